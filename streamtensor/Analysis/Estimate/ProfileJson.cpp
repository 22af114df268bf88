//===- ProfileJson.cpp - Profiles of loops and memories in JSON -----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading is strict: every key is needed, others are errors.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/ProfileJson.h"

#include "streamtensor/Analysis/Estimate/StorageEstimate.h"
#include "streamtensor/Target/Device/ObjectReader.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace streamtensor;
namespace json = llvm::json;

std::optional<LoopProfile> streamtensor::parseProfile(const json::Object &loop,
                                                      std::string &error) {
  LoopProfile profile;
  std::string name;
  ObjectReader reader(loop, loop.getString("name").value_or("loop").str(),
                      error);
  const json::Object *operations = nullptr;
  bool complete =
      reader.text("name", name) && (operations = reader.object("operations")) &&
      reader.integer("cells", profile.cells) &&
      reader.boolean("accumulates", profile.accumulates) &&
      reader.integer("distance", profile.distance) &&
      reader.boolean("reads_arrays", profile.readsArrays) &&
      reader.integer("port_accesses", profile.portAccesses) && reader.finish();
  if (!complete)
    return std::nullopt;
  for (const auto &[key, value] : *operations) {
    llvm::StringRef unitName = key;
    const OperatorInfo *unit = OperatorLibrary::standard().find(unitName);
    std::optional<int64_t> count = value.getAsInteger();
    if (!unit) {
      reader.fail("operations",
                  "expected a known operator but got '" + unitName.str() + "'");
      return std::nullopt;
    }
    if (!count || *count < 0) {
      reader.fail("operations", "expected an integer of at least 0 for '" +
                                    unitName.str() + "'");
      return std::nullopt;
    }
    profile.operations.emplace_back(unit, *count);
  }
  // Objects have no order; sums do not depend on one, the text of errors does.
  llvm::sort(profile.operations, [](const auto &a, const auto &b) {
    return a.first->name < b.first->name;
  });
  return profile;
}

static void print(json::OStream &out, const ResourceUse &use) {
  out.attribute("dsp", use.dsp);
  out.attribute("lut", use.lut);
  out.attribute("ff", use.ff);
  out.attribute("bram18", use.bram18);
  out.attribute("uram", use.uram);
}

/// Both numbers of a memory.
static void print(json::OStream &out, const ResourceUse &needed,
                  const ResourceUse &csynth) {
  out.object([&] {
    out.attributeObject("needed", [&] { print(out, needed); });
    out.attributeObject("csynth", [&] { print(out, csynth); });
  });
}

/// Calls `visit` with each entry of the list `key`; false, and the cause in
/// `error`, when one is no object or `visit` fails.
static bool forEach(ObjectReader &reader, llvm::StringRef key,
                    llvm::function_ref<bool(const json::Object &)> visit) {
  const json::Array *list = reader.list(key);
  if (!list)
    return false;
  for (const json::Value &value : *list) {
    const json::Object *entry = value.getAsObject();
    if (!entry)
      return reader.fail(key, "expected objects");
    if (!visit(*entry))
      return false;
  }
  return true;
}

/// What the tables of published reports choose for an array by itself.
static MemoryKind arrayKind(const StorageShape &shape) {
  ResourceUse use = csynthArray(shape);
  return use.uram > 0     ? MemoryKind::Uram
         : use.bram18 > 0 ? MemoryKind::Bram
                          : MemoryKind::LutRam;
}

std::optional<std::string> streamtensor::estimateProfiles(llvm::StringRef text,
                                                          std::string &error) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = llvm::toString(parsed.takeError());
    return std::nullopt;
  }
  const json::Object *root = parsed->getAsObject();
  if (!root) {
    error = "expected an object";
    return std::nullopt;
  }
  ObjectReader reader(*root, "input", error);
  std::string result;
  llvm::raw_string_ostream stream(result);
  json::OStream out(stream, 1);
  bool complete = true;
  out.objectBegin();
  out.attributeArray("loops", [&] {
    complete = forEach(reader, "loops", [&](const json::Object &loop) {
      std::optional<LoopProfile> profile = parseProfile(loop, error);
      if (!profile)
        return false;
      ProfileEstimate estimate = estimateProfile(*profile);
      out.object([&] {
        out.attribute("interval", estimate.interval);
        out.attribute("depth", estimate.depth);
        print(out, estimate.resources);
      });
      return true;
    });
  });
  out.attributeArray("fifos", [&] {
    complete =
        complete && forEach(reader, "fifos", [&](const json::Object &entry) {
          ObjectReader fifo(entry, "input.fifos", error);
          int64_t depth = 0, bits = 0;
          if (!fifo.integer("depth", depth) || !fifo.integer("bits", bits) ||
              !fifo.finish())
            return false;
          print(out, estimateFifo(depth, bits), csynthFifo(depth, bits));
          return true;
        });
  });
  out.attributeArray("arrays", [&] {
    complete =
        complete && forEach(reader, "arrays", [&](const json::Object &entry) {
          ObjectReader array(entry, "input.arrays", error);
          StorageShape shape;
          if (!array.integer("words", shape.words) ||
              !array.integer("bits", shape.bits) ||
              !array.integer("banks", shape.banks) ||
              !array.boolean("ping_pong", shape.pingPong) || !array.finish())
            return false;
          print(out, estimateArray(shape, arrayKind(shape)),
                csynthArray(shape));
          return true;
        });
  });
  out.objectEnd();
  if (!complete || !reader.finish())
    return std::nullopt;
  return result;
}
