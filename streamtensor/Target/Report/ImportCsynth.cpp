//===- ImportCsynth.cpp - Figures of synthesis instead of estimates -------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vitis names the module of a function by the function, and that of a pipelined
// loop beside other code FUNCTION_Pipeline_LABELS; a loop is named by the
// labels of the loops that it is flattened from.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/ImportCsynth.h"

#include "streamtensor/Analysis/Estimate/CsynthReport.h"
#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Target/Report/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>

namespace streamtensor {
#define GEN_PASS_DEF_IMPORTCSYNTH
#include "streamtensor/Target/Report/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

namespace {

/// Matches reports with a module.
class Importer {
public:
  Importer(ModuleOp module, const CsynthReport &report)
      : module(module), report(report), builder(module.getContext()) {}

  LogicalResult run(const DeviceInfo &device);

private:
  LogicalResult checkTarget(const DeviceInfo &device);
  LogicalResult findOwners();
  LogicalResult attach(func::FuncOp function, const CsynthModule &figures);
  LogicalResult attachLoops(func::FuncOp function, const CsynthModule &figures);

  ModuleOp module;
  const CsynthReport &report;
  Builder builder;
  llvm::MapVector<StringRef, func::FuncOp> functions;
  /// The function that a module is a part of.
  llvm::StringMap<func::FuncOp> owners;
};

} // namespace

LogicalResult Importer::checkTarget(const DeviceInfo &device) {
  if (report.part != device.part)
    return module.emitError()
           << "expected reports for part '" << device.part << "' of target '"
           << device.name << "' but got '" << report.part << "'";
  // Reports round the period to hundredths of a nanosecond.
  double period = 1000.0 / device.clockMHz;
  if (std::abs(report.clockNs - period) > 0.01)
    return module.emitError()
           << "expected reports for a clock of " << device.clockMHz << " MHz ("
           << llvm::formatv("{0:F2}", period).str() << " ns) but got "
           << llvm::formatv("{0:F2}", report.clockNs).str() << " ns";
  return success();
}

/// Finds which function each module of the report is or is a part of.
LogicalResult Importer::findOwners() {
  llvm::StringMap<std::string> parents;
  for (const auto &[parent, child] : report.instances)
    parents.try_emplace(child, parent);
  for (const CsynthModule &figures : report.modules) {
    func::FuncOp owner;
    StringRef name = figures.name;
    llvm::StringSet<> seen;
    while (!owner && seen.insert(name).second) {
      owner = functions.lookup(name);
      if (!owner)
        owner = functions.lookup(name.split("_Pipeline_").first);
      auto parent = parents.find(name);
      if (!owner && parent != parents.end())
        name = parent->second;
    }
    if (!owner) {
      InFlightDiagnostic error = module.emitError()
                                 << "report of module '" << figures.name
                                 << "': expected a function of the design, one "
                                    "of ";
      llvm::interleaveComma(functions, error, [&](const auto &entry) {
        error << "'" << entry.first << "'";
      });
      return error;
    }
    owners[figures.name] = owner;
  }
  return success();
}

/// "load0_load1".
static std::string nameOf(ArrayRef<scf::ForOp> nest) {
  std::string name;
  for (scf::ForOp loop : nest)
    if (auto label = loop->getAttrOfType<StringAttr>(hls::kLabelAttr))
      name += (name.empty() ? "" : "_") + label.str();
  return name;
}

LogicalResult Importer::attachLoops(func::FuncOp function,
                                    const CsynthModule &figures) {
  for (const CsynthLoop &loop : figures.loops) {
    if (!loop.interval)
      continue;
    SmallVector<SmallVector<scf::ForOp>> nests;
    function.walk<WalkOrder::PreOrder>([&](scf::ForOp candidate) {
      if (isFullyUnrolled(candidate))
        return WalkResult::advance();
      SmallVector<scf::ForOp> nest = pipelinedNest(candidate);
      if (nest.empty())
        return WalkResult::advance();
      nests.push_back(nest);
      return WalkResult::skip();
    });
    ArrayRef<scf::ForOp> match;
    std::string known;
    for (ArrayRef<scf::ForOp> nest : nests) {
      known += (known.empty() ? "'" : ", '") + nameOf(nest) + "'";
      // Loops of one iteration are dropped before the others are flattened.
      for (size_t first = 0; first < nest.size(); ++first) {
        if (nameOf(nest.drop_front(first)) == loop.name)
          match = nest;
        if (tripCount(nest[first]) != 1)
          break;
      }
    }
    if (match.empty())
      return function.emitError()
             << "report of loop '" << loop.name << "': expected "
             << (known.empty() ? "no pipelined loop" : "one of " + known);
    int64_t trips = 1;
    for (scf::ForOp level : match)
      trips *= iterations(level);
    if (loop.trips && *loop.trips != trips)
      return scf::ForOp(match.back())->emitError()
             << "report of loop '" << loop.name << "': expected " << trips
             << " iterations but got " << *loop.trips
             << "; the report is of another design";
    scf::ForOp(match.back())
        ->setAttr(hls::kCsynthAttr,
                  builder.getDictionaryAttr(
                      {builder.getNamedAttr(
                           "ii", builder.getI64IntegerAttr(*loop.interval)),
                       builder.getNamedAttr(
                           "depth", builder.getI64IntegerAttr(*loop.depth))}));
  }
  return success();
}

LogicalResult Importer::attach(func::FuncOp function,
                               const CsynthModule &figures) {
  // A part of the function that has its own loops, such as a library function,
  // is counted in the function.
  StringRef name = figures.name;
  bool isFunction = name == function.getName();
  bool isLoop = name.starts_with((function.getName() + "_Pipeline_").str());
  if (isFunction || isLoop)
    if (failed(attachLoops(function, figures)))
      return failure();
  if (!isFunction)
    return success();
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  const ResourceUse &use = figures.resources;
  SmallVector<NamedAttribute> values = {
      number("dsp", use.dsp), number("lut", use.lut), number("ff", use.ff),
      number("bram18", use.bram18), number("uram", use.uram)};
  if (figures.latency)
    values.push_back(number("latency", *figures.latency));
  function->setAttr(hls::kCsynthAttr, builder.getDictionaryAttr(values));
  return success();
}

LogicalResult Importer::run(const DeviceInfo &device) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      functions[function.getName()] = function;
  if (failed(checkTarget(device)) || failed(findOwners()))
    return failure();
  if (report.isWholeDesign)
    for (auto &[name, function] : functions)
      if (function->hasAttr(hls::kTaskAttr) && !report.find(name))
        return function.emitError()
               << "expected a report of task '" << name
               << "' among those of the whole design of '" << report.top << "'";
  for (const CsynthModule &figures : report.modules)
    if (failed(attach(owners.lookup(figures.name), figures)))
      return failure();
  return success();
}

LogicalResult streamtensor::importCsynth(ModuleOp module, StringRef path,
                                         const DeviceInfo &device) {
  std::string error;
  std::optional<CsynthReport> report = readCsynthReports(path, error);
  if (!report)
    return module.emitError() << "synthesis reports: " << error;
  return Importer(module, *report).run(device);
}

namespace {

struct ImportCsynth
    : public streamtensor::impl::ImportCsynthBase<ImportCsynth> {
  using ImportCsynthBase::ImportCsynthBase;

  void runOnOperation() override {
    std::string error;
    std::optional<DeviceInfo> device = findDevice(target, error);
    if (!device) {
      getOperation().emitError() << error;
      return signalPassFailure();
    }
    if (failed(importCsynth(getOperation(), path, *device)))
      return signalPassFailure();
  }
};

} // namespace
