//===- WriteDesign.cpp - The output directory of a compile ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The files of a design, and the pass `--st-write-design`. Everything is built
// in memory first: a module without a C++ form leaves no file behind.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/WriteDesign.h"

#include "streamtensor/Allocation/DepthCertificate.h"
#include "streamtensor/Network/NetworkJson.h"
#include "streamtensor/Sim/TimedReport.h"
#include "streamtensor/Support/Safetensors.h"
#include "streamtensor/Support/Sha256.h"
#include "streamtensor/Target/Connectivity/Connectivity.h"
#include "streamtensor/Target/Connectivity/Floorplan.h"
#include "streamtensor/Target/HLSCpp/HLSCpp.h"
#include "streamtensor/Target/Host/EmitHost.h"
#include "streamtensor/Target/Report/DeriveNetwork.h"
#include "streamtensor/Target/Report/Passes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

namespace streamtensor {
#define GEN_PASS_DEF_WRITEDESIGN
#include "streamtensor/Target/Report/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

/// Targets without Vitis: the C simulation. With it: kernel object and binary.
static std::string makefile(StringRef function, StringRef part,
                            int64_t clockMHz, bool hasFloorplan) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "# Written by streamtensor-compile.\n"
        "#   make csim INPUTS=in.safetensors OUTPUTS=out.safetensors\n"
        "#   make hls  PLATFORM=name of a Vitis platform\n"
        "#   make link PLATFORM=name of a Vitis platform\n"
        "#   make host\n"
        "#   make simulated-xclbin\n"
        "# `csim` needs streamtensor-run only; `hls` and `link` need Vitis, "
        "`host` XRT's\n"
        "# headers and library. A simulated executable stands in for that of "
        "`link` where\n"
        "# there is no board.\n"
        "# Planned for "
     << part << " at " << clockMHz
     << " MHz.\n"
        "STREAMTENSOR_RUN ?= streamtensor-run\n"
        "VPP ?= v++\n"
        "PLATFORM ?=\n"
        "XRT_FLAGS ?= $(if $(XILINX_XRT),-I$(XILINX_XRT)/include "
        "-L$(XILINX_XRT)/lib) -I/usr/include/xrt\n\n"
        ".PHONY: csim hls link host simulated-xclbin\n\n"
        "csim:\n"
        "\t@test -n \"$(INPUTS)\" || { echo \"expected INPUTS=FILE but got "
        "none\" >&2; exit 2; }\n"
        "\t@test -n \"$(OUTPUTS)\" || { echo \"expected OUTPUTS=FILE but got "
        "none\" >&2; exit 2; }\n"
        "\t$(STREAMTENSOR_RUN) . --inputs $(INPUTS) --outputs $(OUTPUTS)\n\n"
        "hls: "
     << function << ".xo\nlink: " << function << ".xclbin\n\n"
     << function
     << ".xo: hls/kernel.cpp\n"
        "\t@test -n \"$(PLATFORM)\" || { echo \"expected PLATFORM=NAME but got "
        "none\" >&2; exit 2; }\n"
        "\t$(VPP) -c -t hw --platform $(PLATFORM) -k "
     << function << " -Ihls/include hls/kernel.cpp -o $@\n\n"
     << function << ".xclbin: " << function << ".xo connectivity.cfg"
     << (hasFloorplan ? " floorplan.tcl" : "")
     << "\n\t$(VPP) -l -t hw --platform $(PLATFORM) --config connectivity.cfg ";
  if (hasFloorplan)
    os << "--vivado.prop "
          "run.impl_1.STEPS.OPT_DESIGN.TCL.PRE=$(abspath floorplan.tcl) ";
  os << function
     << ".xo -o $@\n"
        "\tprintf '%s "
     << function
     << "\\n' $$(sha256sum <hls/kernel.cpp | cut -d' ' -f1) >$@.kernels\n\n"
        "host: host/host\n\n"
        "host/host: host/main.cpp host/st_host.h\n"
        "\t$(CXX) -std=c++17 -O2 host/main.cpp $(XRT_FLAGS) -lxrt_coreutil "
        "-luuid -o $@\n\n"
        "simulated-xclbin: simulated.xclbin\n\n"
        "simulated.xclbin:\n"
        "\tprintf 'streamtensor simulated xclbin\\ndesign .\\n' > $@\n";
  return text;
}

namespace {

/// A header that the vendor's compile of the kernel needs besides its own.
struct KernelHeader {
  const char *name;
  const char *text;
};

const KernelHeader kKernelHeaders[] = {
#include "KernelHeaders.inc"
};

} // namespace

/// Writes one file of the design.
static LogicalResult writeFile(ModuleOp module, StringRef directory,
                               StringRef name, StringRef content) {
  llvm::SmallString<256> path(directory);
  llvm::sys::path::append(path, name);
  std::error_code error =
      llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
  if (!error) {
    llvm::raw_fd_ostream file(path, error);
    if (!error) {
      file << content;
      file.close();
      error = file.error();
      file.clear_error();
    }
  }
  if (!error)
    return success();
  return emitError(UnknownLoc::get(module.getContext()))
         << "cannot write '" << path << "': " << error.message();
}

/// The design as its host program sees it.
static HostDesign hostDesign(const DesignInfo &design, StringRef kernelSha256) {
  HostDesign host;
  host.function = design.function;
  host.kernelSha256 = kernelSha256.str();
  for (const ArgumentInfo &argument : design.arguments) {
    HostArgument &each = host.arguments.emplace_back();
    each.name = argument.name;
    each.variable = argument.variable;
    each.role = argument.role;
    each.dtype = argument.dtype;
    each.elementBytes =
        static_cast<int64_t>(dtypeBytes(*parseDType(argument.dtype)));
    each.shape = argument.shape;
    each.dims = argument.dims;
    each.bufferShape = argument.bufferShape;
    each.bytes = argument.bytes;
    each.packing = argument.packing;
    each.packedShape = argument.packedShape;
    each.file = argument.file;
  }
  for (const dataflow::ParameterRange &parameter : design.parameters)
    host.parameters.push_back(
        {parameter.name, parameter.smallest, parameter.largest});
  return host;
}

/// Below hls/include, where a compile for the simulation does not find them.
static LogicalResult writeHeaders(ModuleOp module, StringRef directory) {
  for (const KernelHeader &header : kKernelHeaders)
    if (failed(writeFile(module, directory,
                         std::string("hls/include/") + header.name,
                         header.text)))
      return failure();
  return success();
}

/// The bytes of a constant, row-major and little-endian.
static std::string bytesOf(DenseElementsAttr value) {
  ArrayRef<char> raw = value.getRawData();
  if (!value.isSplat())
    return std::string(raw.begin(), raw.end());
  std::string bytes;
  for (int64_t i = 0; i < value.getNumElements(); ++i)
    bytes.append(raw.begin(), raw.end());
  return bytes;
}

/// Writes the constants of the program that became arguments.
static LogicalResult writeConstants(ModuleOp module, const DesignInfo &design,
                                    StringRef directory) {
  for (const ArgumentInfo &argument : design.arguments) {
    if (!argument.value)
      continue;
    if (argument.file.empty() || argument.packing)
      return module.emitError() << "expected constant '" << argument.name
                                << "' to have a file and no packing";
    if (failed(writeFile(module, directory, argument.file,
                         bytesOf(argument.value))))
      return failure();
  }
  return success();
}

/// More work than this takes seconds.
static constexpr int64_t kMostWork = 10'000'000;

/// Steps of one of the runs that are compared for the slow-down; seconds.
static constexpr int64_t kMostSlowdownSteps = 2'000'000;

/// One run that sees each wait may take more.
static constexpr int64_t kMostExplainedWork = 30'000'000;

/// The largest values at which a compile can afford a simulation: each is
/// halved until the work is small enough, or there is nothing to halve. Of a
/// launch that repeats the design: one repetition.
static ParameterValues affordableValues(const TimedNetwork &network) {
  ParameterValues values = network.maxima();
  for (const NetworkParameter &parameter : network.parameters)
    if (parameter.name == network.repeat)
      values[parameter.name] = parameter.min;
  for (bool smaller = true;
       smaller && simulationWork(network, values) > kMostWork;) {
    smaller = false;
    for (const NetworkParameter &parameter : network.parameters) {
      int64_t &value = values[parameter.name];
      const int64_t half = parameter.min + (value - parameter.min) / 2;
      smaller |= half < value;
      value = half;
    }
  }
  return values;
}

static llvm::json::Object describeShare(const TimeBreakdown &breakdown,
                                        const TimeShare &share) {
  return llvm::json::Object{{"kind", timeKindName(share.kind)},
                            {"by", share.by},
                            {"source", share.source},
                            {"cycles", share.cycles},
                            {"share", breakdown.fraction(share.cycles)}};
}

/// One run at `values`; what it says goes to the report, and to `summary` for
/// people.
static LogicalResult simulateDesign(ModuleOp module,
                                    const TimedNetwork &network,
                                    const ParameterValues &values,
                                    DesignOptions &report,
                                    std::string &summary) {
  TimedOptions options;
  options.values = values;
  std::string error;
  // Where the time goes is known of each single wait, which nothing can pass.
  const bool explains = simulationWork(network, values) <= kMostExplainedWork;
  std::optional<ExplainedRun> run =
      explains ? explainTime(network, options, error)
               : simulateUnexplained(network, options, error);
  if (!run)
    return module.emitError() << "internal error: " << error;
  const TimedResult *result = &run->result;
  const TimeBound bound = boundOf(network, options, *result);
  const double msPerCycle = network.clockNs * 1e-6;
  llvm::json::Object simulation{
      {"cycles", result->cycles},
      {"ms", double(result->cycles) * msPerCycle},
      {"hbm_bytes", memoryBytes(*result)},
      {"hbm_utilization", memoryUtilization(network, *result)},
      {"bound_cycles", bound.cycles},
      {"bound_ms", double(bound.cycles) * msPerCycle},
      {"bound_by", bound.kind + " '" + bound.by + "'"},
      {"longest_wait", longestWait(network, *result)},
      {"launch_cycles", network.launchCycles},
      {"deadlock", nullptr},
      {"label", "simulated"}};
  if (!result->deadlock.empty())
    simulation["deadlock"] = describeDeadlock(network, *result);
  const TimeBreakdown &breakdown = run->breakdown;
  simulation["bottleneck"] = nullptr;
  if (breakdown.bottleneck) {
    llvm::json::Object bottleneck =
        describeShare(breakdown, *breakdown.bottleneck);
    bottleneck["kind_share"] =
        breakdown.fraction(breakdown.of(breakdown.bottleneck->kind));
    simulation["bottleneck"] = std::move(bottleneck);
  }
  llvm::json::Array chain;
  for (const TimeShare &share : breakdown.shares)
    chain.push_back(describeShare(breakdown, share));
  simulation["chain"] = std::move(chain);
  simulation["lost_to_fifos"] = breakdown.lostToFifos;
  summary = timedReportText(network, options, *run);
  if (!explains)
    summary += "too large to say here what bounds it; `streamtensor simulate` "
               "says it\n";
  llvm::json::Object sizes;
  for (const auto &[name, value] : values)
    sizes[name] = value;
  simulation["values"] = std::move(sizes);
  if (!values.empty()) {
    summary += "at";
    for (const auto &[name, value] : values)
      summary += " " + name + "=" + std::to_string(value);
    summary += "\n";
  }
  report.simulation = std::move(simulation);
  for (size_t i = 0; i < network.fifos.size(); ++i)
    if (!network.fifos[i].isControl)
      report.simulatedPeaks[network.fifos[i].name] = result->fifos[i].peak;
  return success();
}

/// Simulates several invocations with the depths, and with FIFOs that are never
/// full; nothing where that takes too long for a compile.
static LogicalResult addSlowdown(ModuleOp module, const TimedNetwork &network,
                                 const ParameterValues &values,
                                 DepthCertificate &certificate) {
  TimedOptions options;
  options.values = values;
  options.invocations = certificate.invocations;
  options.mostSteps = kMostSlowdownSteps;
  std::string error;
  std::optional<TimedResult> bounded = simulateTimed(network, options, error);
  options.unbounded = true;
  std::optional<TimedResult> unbounded =
      bounded ? simulateTimed(network, options, error) : std::nullopt;
  if (!unbounded)
    return module.emitError() << "internal error: " << error;
  if (bounded->isTruncated || unbounded->isTruncated)
    return success();
  certificate.slowdown.push_back(
      {options.values, bounded->cycles, unbounded->cycles});
  return success();
}

/// For the report.
static llvm::json::Value summarize(const DepthCertificate &certificate) {
  llvm::json::Value slowdown = nullptr;
  for (const CertifiedCycles &cycles : certificate.slowdown)
    if (cycles.cyclesUnbounded > 0)
      slowdown = double(cycles.cycles) / double(cycles.cyclesUnbounded);
  return llvm::json::Object{{"deadlock_free", true},
                            {"invocations", certificate.invocations},
                            {"slowdown_vs_unbounded", std::move(slowdown)},
                            {"file", "certificate.json"},
                            {"label", "simulated"}};
}

/// Resources and what is proved, one line each.
static std::string
summarizeDesign(const DesignInfo &design, const DeviceInfo &device,
                const std::optional<DepthCertificate> &certificate) {
  const ResourceUse total = design.resources();
  std::string text;
  llvm::raw_string_ostream os(text);
  StringRef separator = "estimated: ";
  auto add = [&](StringRef name, int64_t used, int64_t available) {
    os << separator << name << " " << used;
    if (available > 0)
      os << llvm::format(" (%.0f%%)", 100.0 * double(used) / double(available));
    separator = ", ";
  };
  add("dsp", total.dsp, device.resources.dsp);
  add("lut", total.lut, device.resources.lut);
  add("ff", total.ff, device.resources.ff);
  add("bram36", llvm::divideCeil(total.bram18, 2), device.resources.bram36);
  add("uram", total.uram, device.resources.uram);
  os << "\ncertificate: ";
  if (certificate)
    os << "no deadlock at any size, " << certificate->invocations
       << " invocations (streamtensor-check-certificate verifies it)\n";
  else
    os << "none\n";
  return text;
}

FailureOr<DesignInfo>
streamtensor::collectPlacedDesign(ModuleOp module, const DeviceInfo &device,
                                  std::vector<MemoryPort> &ports) {
  FailureOr<DesignInfo> design = collectDesign(module);
  if (failed(design))
    return failure();
  ports.clear();
  for (const ArgumentInfo &argument : design->arguments)
    ports.push_back({argument.variable, argument.bundle, argument.bytes});
  if (device.memoryKind != "HBM")
    return design;
  std::string error;
  if (!assignChannels(ports, device.memoryChannels, device.channelBytes, error))
    return module.emitError() << error;
  for (auto [argument, port] : llvm::zip_equal(design->arguments, ports)) {
    argument.channel = port.channel;
    argument.channels = port.channels;
  }
  return design;
}

/// What is assigned to dies, for a device of several: tasks, and FIFOs where
/// they are read.
static std::vector<PlacedCell> placedCells(const DesignInfo &design,
                                           const DeviceInfo &device) {
  std::vector<PlacedCell> cells;
  if (device.dies.size() < 2)
    return cells;
  for (const TaskInfo &task : design.tasks)
    if (!task.die.empty())
      cells.push_back({task.name + "_U0", task.die});
  for (const FifoInfo &fifo : design.fifos)
    if (const TaskInfo *reader = design.findTask(fifo.consumer);
        reader && !reader->die.empty())
      cells.push_back({fifo.name + "_U", reader->die});
  return cells;
}

/// A module that was assigned for one target cannot be written for another.
static LogicalResult checkDies(ModuleOp module, const DesignInfo &design,
                               const DeviceInfo &device) {
  for (const TaskInfo &task : design.tasks)
    if (!task.die.empty() && llvm::none_of(device.dies, [&](const auto &die) {
          return die.name == task.die;
        }))
      return module.emitError()
             << "expected a die of target '" << device.name << "' for task '"
             << task.name << "' but got '" << task.die
             << "'; compile from phase vectorized for another target";
  return success();
}

LogicalResult streamtensor::writeDesign(ModuleOp module,
                                        const DesignOptions &options,
                                        StringRef outputDir,
                                        std::string *summary) {
  std::string error, timeSummary;
  std::optional<DeviceInfo> device = findDevice(options.target, error);
  if (!device)
    return module.emitError() << error;
  std::vector<MemoryPort> ports;
  FailureOr<DesignInfo> design = collectPlacedDesign(module, *device, ports);
  if (failed(design))
    return failure();
  if (failed(checkDies(module, *design, *device)))
    return failure();
  std::string kernel;
  llvm::raw_string_ostream kernelStream(kernel);
  if (failed(emitHLSCpp(module, kernelStream)))
    return failure();
  std::string hash = sha256Hex(kernel);

  FailureOr<std::optional<TimedNetwork>> network =
      deriveNetwork(module, *design, *device);
  if (failed(network))
    return failure();
  DesignOptions described = options;
  std::string networkText;
  std::optional<DepthCertificate> certificate;
  if (*network) {
    networkText = printNetwork(**network);
    const ParameterValues values = affordableValues(**network);
    if (failed(
            simulateDesign(module, **network, values, described, timeSummary)))
      return failure();
    std::optional<CertificateWitness> witness = findWitness(**network, error);
    if (!witness)
      module.emitWarning() << "the design has no certificate of its fifo "
                              "depths: "
                           << error;
    // A module that was not sized (a text given by hand) may deadlock.
    else
      certificate = certifyDepths(**network, *witness, error);
    if (witness && !certificate && options.requireCertificate)
      return module.emitError() << "expected fifo depths with which the design "
                                   "ends but got a "
                                << error;
    if (certificate) {
      if (failed(addSlowdown(module, **network, values, *certificate)))
        return failure();
      described.certificate = summarize(*certificate);
    }
  }
  if (summary)
    *summary = timeSummary + summarizeDesign(*design, *device, certificate);
  auto text = [](auto &&write) {
    std::string buffer;
    llvm::raw_string_ostream os(buffer);
    write(os);
    return buffer;
  };
  std::string interface = text(
      [&](llvm::raw_ostream &os) { writeInterfaceJson(*design, hash, os); });
  std::string report = text([&](llvm::raw_ostream &os) {
    writeReportJson(*design, described, *device, hash, os);
  });
  std::string connectivity = text([&](llvm::raw_ostream &os) {
    writeConnectivity(design->function, ports, /*die=*/"", device->clockMHz,
                      os);
  });
  std::string floorplan;
  if (const std::vector<PlacedCell> cells = placedCells(*design, *device);
      !cells.empty())
    floorplan = text([&](llvm::raw_ostream &os) {
      writeFloorplan(design->function, cells, os);
    });
  std::string host;
  llvm::raw_string_ostream hostStream(host);
  if (!emitHost(hostDesign(*design, hash), hostStream, error))
    return module.emitError() << error;
  std::string make = makefile(design->function, device->part, device->clockMHz,
                              !floorplan.empty());
  // The interface comes last: a directory without it is no design.
  return failure(
      failed(writeFile(module, outputDir, "hls/kernel.cpp", kernel)) ||
      failed(writeHeaders(module, outputDir)) ||
      failed(writeFile(module, outputDir, "connectivity.cfg", connectivity)) ||
      (!floorplan.empty() &&
       failed(writeFile(module, outputDir, "floorplan.tcl", floorplan))) ||
      (*network &&
       failed(writeFile(module, outputDir, "network.pn.json", networkText))) ||
      (certificate &&
       failed(writeFile(module, outputDir, "certificate.json",
                        printCertificate(**network, *certificate, hash,
                                         sha256Hex(networkText))))) ||
      failed(writeFile(module, outputDir, "host/main.cpp", host)) ||
      failed(writeFile(module, outputDir, "host/st_host.h", kHostHeader)) ||
      failed(writeFile(module, outputDir, "Makefile", make)) ||
      failed(writeConstants(module, *design, outputDir)) ||
      failed(writeFile(module, outputDir, "report.json", report)) ||
      failed(writeFile(module, outputDir, "interface.json", interface)));
}

namespace {

struct WriteDesign : public streamtensor::impl::WriteDesignBase<WriteDesign> {
  using WriteDesignBase::WriteDesignBase;

  void runOnOperation() override {
    DesignOptions options;
    options.target = target;
    if (!llvm::sys::fs::is_directory(outputDir)) {
      getOperation().emitError()
          << "expected an existing directory but got '" << outputDir << "'";
      return signalPassFailure();
    }
    if (failed(writeDesign(getOperation(), options, outputDir)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

} // namespace
