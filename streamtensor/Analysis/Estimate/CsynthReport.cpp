//===- CsynthReport.cpp - Synthesis reports of Vitis HLS ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In NAME_csynth.xml the figures stand under <profile>; in csynth.xml also once
// per module under <ModuleInformation>, and which module contains which under
// <RTLDesignHierarchy>. A loop is an element that is called by its label.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/CsynthReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <pugixml.hpp>

using namespace streamtensor;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

const CsynthModule *CsynthReport::find(StringRef name) const {
  for (const CsynthModule &module : modules)
    if (name == module.name)
      return &module;
  return nullptr;
}

namespace {

/// Reads one document; the first thing that is wrong stays in `error`.
class Reader {
public:
  Reader(pugi::xml_node root, std::string &error) : root(root), error(error) {}

  bool read(CsynthReport &report);

private:
  bool fail(const llvm::Twine &what) {
    if (error.empty())
      error = what.str();
    return false;
  }

  static StringRef textOf(pugi::xml_node node) {
    return StringRef(node.text().get()).trim();
  }

  /// The text of an element that must be there.
  bool text(pugi::xml_node parent, const char *name, std::string &out);
  /// A count of blocks that must be there.
  bool count(pugi::xml_node parent, const char *name, int64_t &out);
  /// A count of at most `most` that the report may not know; of a range the
  /// largest.
  bool maybeCount(pugi::xml_node parent, const char *name, int64_t most,
                  std::optional<int64_t> &out);
  bool readModule(pugi::xml_node node, std::string name, CsynthReport &report);
  bool readLoops(pugi::xml_node parent, CsynthModule &module, int nesting);
  void readInstances(pugi::xml_node node, const std::string &parent,
                     CsynthReport &report, int nesting);

  pugi::xml_node root;
  std::string &error;
};

/// Deeper nesting than this is no design of ours.
constexpr int kDeepest = 64;

/// Larger counts than these are no hardware's: of blocks, of cycles of an
/// iteration, of cycles and iterations of a run. Sums and products of what they
/// are used in fit 64 bits.
constexpr int64_t kMostBlocks = int64_t(1) << 30;
constexpr int64_t kMostStages = int64_t(1) << 20;
constexpr int64_t kMostCycles = int64_t(1) << 50;

} // namespace

bool Reader::text(pugi::xml_node parent, const char *name, std::string &out) {
  pugi::xml_node node = parent.child(name);
  if (!node)
    return fail(llvm::Twine("expected <") + name + "> in <" + parent.name() +
                "> but got none");
  out = textOf(node).str();
  if (out.empty())
    return fail(llvm::Twine("expected a text in <") + name + ">");
  return true;
}

bool Reader::maybeCount(pugi::xml_node parent, const char *name, int64_t most,
                        std::optional<int64_t> &out) {
  pugi::xml_node node = parent.child(name);
  if (!node)
    return true;
  StringRef value = textOf(node);
  if (pugi::xml_node range = node.child("range"))
    value = textOf(range.child("max"));
  // "30 ~ 541"
  if (value.contains('~'))
    value = value.rsplit('~').second.trim();
  if (value.empty() || value == "undef" || value == "?" || value == "-" ||
      value == "inf" || value == "no" || value == "none")
    return true;
  int64_t number = 0;
  if (value.getAsInteger(10, number) || number < 0)
    return fail(llvm::Twine("expected a count in <") + name + "> of <" +
                parent.name() + "> but got '" + value + "'");
  if (number > most)
    return fail(llvm::Twine("expected at most ") + llvm::Twine(most) + " in <" +
                name + "> of <" + parent.name() + "> but got " +
                llvm::Twine(number));
  out = number;
  return true;
}

bool Reader::count(pugi::xml_node parent, const char *name, int64_t &out) {
  std::optional<int64_t> value;
  if (!maybeCount(parent, name, kMostBlocks, value))
    return false;
  if (!value)
    return fail(llvm::Twine("expected a count in <") + name + "> of <" +
                parent.name() + "> but got none");
  out = *value;
  return true;
}

bool Reader::readLoops(pugi::xml_node parent, CsynthModule &module,
                       int nesting) {
  if (nesting > kDeepest)
    return fail("expected fewer loops in each other");
  for (pugi::xml_node node : parent.children()) {
    // Loops have these; other elements are figures of the loop around.
    if (node.type() != pugi::node_element || !node.child("TripCount"))
      continue;
    CsynthLoop loop;
    loop.name = node.child("Name") ? textOf(node.child("Name")).str()
                                   : std::string(node.name());
    if (!maybeCount(node, "TripCount", kMostCycles, loop.trips) ||
        !maybeCount(node, "PipelineII", kMostStages, loop.interval) ||
        !maybeCount(node, "PipelineDepth", kMostStages, loop.depth))
      return false;
    if (loop.interval && (*loop.interval < 1 || !loop.depth || *loop.depth < 1))
      return fail(llvm::Twine("expected loop '") + loop.name +
                  "' with an interval and a depth of at least 1");
    module.loops.push_back(std::move(loop));
    if (!readLoops(node, module, nesting + 1))
      return false;
  }
  return true;
}

bool Reader::readModule(pugi::xml_node node, std::string name,
                        CsynthReport &report) {
  CsynthModule module;
  module.name = std::move(name);
  pugi::xml_node performance = node.child("PerformanceEstimates");
  pugi::xml_node overall = performance.child("SummaryOfOverallLatency");
  pugi::xml_node resources = node.child("AreaEstimates").child("Resources");
  if (!overall || !resources)
    return fail(
        "expected <SummaryOfOverallLatency> and <Resources> of module '" +
        module.name + "'");
  const char *interval = overall.child("Interval-max")
                             ? "Interval-max"
                             : "PipelineInitiationInterval";
  ResourceUse &use = module.resources;
  // Devices without UltraRAM have no such line; older reports say DSP48E.
  std::optional<int64_t> uram;
  const char *dsp = resources.child("DSP") ? "DSP" : "DSP48E";
  if (!maybeCount(overall, "Worst-caseLatency", kMostCycles, module.latency) ||
      !maybeCount(overall, interval, kMostCycles, module.interval) ||
      !count(resources, dsp, use.dsp) || !count(resources, "LUT", use.lut) ||
      !count(resources, "FF", use.ff) ||
      !count(resources, "BRAM_18K", use.bram18) ||
      !maybeCount(resources, "URAM", kMostBlocks, uram) ||
      !readLoops(performance.child("SummaryOfLoopLatency"), module, 0))
    return false;
  use.uram = uram.value_or(0);
  if (report.find(module.name))
    return fail("expected module '" + module.name + "' once");
  report.modules.push_back(std::move(module));
  return true;
}

void Reader::readInstances(pugi::xml_node node, const std::string &parent,
                           CsynthReport &report, int nesting) {
  if (nesting > kDeepest)
    return;
  for (pugi::xml_node instance :
       node.child("InstancesList").children("Instance")) {
    std::string name = textOf(instance.child("ModuleName")).str();
    report.instances.emplace_back(parent, name);
    readInstances(instance, name, report, nesting + 1);
  }
}

bool Reader::read(CsynthReport &report) {
  pugi::xml_node user = root.child("UserAssignments");
  if (!user)
    return fail("expected a synthesis report with <UserAssignments>");
  std::string clock;
  if (!text(user, "Part", report.part) ||
      !text(user, "TopModelName", report.top) ||
      !text(user, "TargetClockPeriod", clock))
    return false;
  if (!llvm::to_float(clock, report.clockNs) || !(report.clockNs > 0) ||
      !std::isfinite(report.clockNs))
    return fail("expected a clock period in <TargetClockPeriod> but got '" +
                clock + "'");
  pugi::xml_node modules = root.child("ModuleInformation");
  if (!modules)
    return readModule(root, report.top, report);
  report.isWholeDesign = true;
  for (pugi::xml_node module : modules.children("Module")) {
    std::string name;
    if (!text(module, "Name", name) || !readModule(module, name, report))
      return false;
  }
  if (!report.find(report.top) && !readModule(root, report.top, report))
    return false;
  pugi::xml_node top = root.child("RTLDesignHierarchy").child("TopModule");
  if (top)
    readInstances(top, textOf(top.child("ModuleName")).str(), report, 0);
  return true;
}

std::optional<CsynthReport>
streamtensor::parseCsynthReport(StringRef text, std::string &error) {
  pugi::xml_document document;
  pugi::xml_parse_result parsed =
      document.load_buffer(text.data(), text.size());
  if (!parsed) {
    auto line = text.take_front(parsed.offset).count('\n') + 1;
    error = "expected XML but got, in line " + std::to_string(line) + ": " +
            llvm::StringRef(parsed.description()).lower();
    return std::nullopt;
  }
  pugi::xml_node root = document.child("profile");
  if (!root) {
    error = "expected a synthesis report with <profile> at its root";
    return std::nullopt;
  }
  error.clear();
  CsynthReport report;
  if (!Reader(root, error).read(report))
    return std::nullopt;
  return report;
}

static std::optional<CsynthReport> readFile(StringRef path,
                                            std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = "cannot read '" + path.str() + "': " + buffer.getError().message();
    return std::nullopt;
  }
  auto report = parseCsynthReport((*buffer)->getBuffer(), error);
  if (!report)
    error = path.str() + ": " + error;
  return report;
}

/// The reports of the modules in `directory`, in the order of their names.
static std::vector<std::string> moduleReports(StringRef directory) {
  std::vector<std::string> files;
  std::error_code code;
  for (fs::directory_iterator file(directory, code), end; file != end && !code;
       file.increment(code))
    if (StringRef(file->path()).ends_with("_csynth.xml"))
      files.push_back(file->path());
  llvm::sort(files);
  return files;
}

std::optional<CsynthReport>
streamtensor::readCsynthReports(StringRef path, std::string &error) {
  if (!fs::is_directory(path))
    return readFile(path, error);
  llvm::SmallString<256> whole(path);
  llvm::sys::path::append(whole, "csynth.xml");
  if (fs::exists(whole))
    return readFile(whole, error);
  std::optional<CsynthReport> all;
  for (const std::string &file : moduleReports(path)) {
    std::optional<CsynthReport> one = readFile(file, error);
    if (!one)
      return std::nullopt;
    if (!all) {
      all = std::move(one);
      continue;
    }
    if (one->part != all->part || one->clockNs != all->clockNs) {
      error = file + ": expected a report for part '" + all->part +
              "' and the same clock as '" + all->top + "', but got part '" +
              one->part + "' and " + std::to_string(one->clockNs) + " ns";
      return std::nullopt;
    }
    if (all->find(one->top)) {
      error = file + ": expected module '" + one->top + "' once";
      return std::nullopt;
    }
    all->modules.push_back(std::move(one->modules.front()));
  }
  if (!all) {
    error = "expected csynth.xml or *_csynth.xml in '" + path.str() + "'";
    return std::nullopt;
  }
  all->isWholeDesign = true;
  return all;
}
