//===- ReportJson.cpp - What an engineer wants to know --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// report.json. Keys are only ever added. What nothing has computed yet is null;
// nothing simulated is called measured.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"
#include "streamtensor/Target/Connectivity/Connectivity.h"
#include "streamtensor/Target/Device/Device.h"
#include "streamtensor/Target/Report/Edges.h"
#include "streamtensor/Target/Report/WriteDesign.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace streamtensor;
using llvm::json::OStream;

namespace {

/// Bytes on chip and in memory that hold intermediates, that is, neither
/// arguments nor results.
struct MemoryFigures {
  int64_t intermediateBytes = 0;
  int64_t onChipBytes = 0;
};

class ReportWriter {
public:
  ReportWriter(const DesignInfo &design, const DesignOptions &options,
               const DeviceInfo &device, llvm::StringRef kernelSha256,
               llvm::raw_ostream &os)
      : design(design), options(options), device(device),
        kernelSha256(kernelSha256), json(os, /*IndentSize=*/1) {}

  void write();

private:
  void writeHead();
  void writeSchedule();
  void writeFusion();
  void writeTasks();
  void writeEdges();
  void writeFifos();
  void writeConverters();
  void writeMemory();
  void writeDma();
  void writeResource(llvm::StringRef key, int64_t used, int64_t available);
  void writeResources();
  void writeRoofline();
  void writeStorage(const ResourceUse &use);
  void writeDies();
  void writeAllocation();
  MemoryFigures memoryFigures() const;
  /// A number, or null where it is not known.
  template <typename T>
  void optional(llvm::StringRef key, const std::optional<T> &value) {
    if (value)
      json.attribute(key, *value);
    else
      json.attribute(key, nullptr);
  }

  const DesignInfo &design;
  const DesignOptions &options;
  const DeviceInfo &device;
  llvm::StringRef kernelSha256;
  OStream json;
};

} // namespace

static int64_t bytesOf(const FifoInfo &fifo) {
  return llvm::divideCeil(fifo.bits(), 8);
}

/// A FIFO holds an argument when it comes from a DMA of one, directly or
/// through converters and forks; a result when only DMAs of results read it, in
/// the same way.
MemoryFigures ReportWriter::memoryFigures() const {
  llvm::StringSet<> external;
  auto allExternal = [&](const std::vector<std::string> &names) {
    return !names.empty() && llvm::all_of(names, [&](const std::string &name) {
      return external.contains(name);
    });
  };
  auto isWorkspace = [&](const TaskInfo &task) {
    const ArgumentInfo *argument = design.findArgument(task.argument);
    return argument && argument->role == "workspace";
  };
  auto movesOnly = [](const TaskInfo &task) {
    return task.kind == "converter" || task.kind == "fork";
  };
  // Tasks stand in the order of the data flow.
  for (const TaskInfo &task : design.tasks)
    if ((task.kind == "dma_in" && !isWorkspace(task)) ||
        (movesOnly(task) && allExternal(task.inputs)))
      external.insert(task.outputs.begin(), task.outputs.end());
  for (const TaskInfo &task : llvm::reverse(design.tasks))
    if ((task.kind == "dma_out" && !isWorkspace(task)) ||
        (movesOnly(task) && allExternal(task.outputs)))
      external.insert(task.inputs.begin(), task.inputs.end());
  MemoryFigures figures;
  for (const FifoInfo &fifo : design.fifos) {
    figures.onChipBytes += bytesOf(fifo);
    if (!external.contains(fifo.name))
      figures.intermediateBytes += bytesOf(fifo);
  }
  for (const BufferInfo &buffer : design.buffers) {
    figures.onChipBytes += buffer.bytes;
    // Accumulators hold partial sums, which are intermediates.
    const TaskInfo *task = design.findTask(buffer.task);
    bool isExternal = movesOnly(*task) &&
                      (allExternal(task->inputs) || allExternal(task->outputs));
    if (!isExternal)
      figures.intermediateBytes += buffer.bytes;
  }
  // Between groups intermediates lie in memory; fusion has not saved these.
  for (const ArgumentInfo &argument : design.arguments)
    if (argument.role == "workspace")
      figures.intermediateBytes += argument.bytes;
  return figures;
}

void ReportWriter::writeHead() {
  json.attribute("schema", 1);
  json.attribute("model", options.model);
  json.attributeObject("target", [&] {
    json.attribute("name", device.name);
    json.attribute("title", device.title);
    json.attribute("part", device.part);
    json.attribute("clock_mhz", device.clockMHz);
  });
  json.attribute("options",
                 llvm::json::Value(llvm::json::Object(options.options)));
  json.attribute("seed", options.seed);
  if (options.phaseSeconds.empty())
    return;
  json.attributeObject("compile", [&] {
    json.attributeObject("seconds", [&] {
      double total = 0;
      for (const auto &[phase, seconds] : options.phaseSeconds)
        total += seconds;
      json.attribute("total", total);
      for (const auto &[phase, seconds] : options.phaseSeconds)
        json.attribute(phase, seconds);
    });
  });
}

void ReportWriter::writeSchedule() {
  json.attributeObject("schedule", [&] {
    optional("max_lanes", options.maxLanes);
    json.attributeArray("tried", [&] {
      for (const auto &[lanes, dsp] : options.lanesTried)
        json.object([&, lanes = lanes, dsp = dsp] {
          json.attribute("max_lanes", lanes);
          json.attribute("dsp", dsp);
        });
    });
    json.attributeArray("changed", [&] {
      for (const TaskInfo &task : design.tasks)
        if (!task.scheduleReason.empty())
          json.object([&] {
            json.attribute("task", task.name);
            json.attribute("reason", task.scheduleReason);
          });
    });
  });
}

void ReportWriter::writeFusion() {
  json.attributeObject("fusion", [&] {
    json.attributeArray("groups", [&] {
      for (const std::string &group : design.groups)
        json.object([&] {
          int64_t bytes = 0, fifoBytes = 0;
          json.attribute("name", group);
          json.attributeArray("tasks", [&] {
            for (const TaskInfo &task : design.tasks)
              if (task.group == group)
                json.value(task.name);
          });
          for (const FifoInfo &fifo : design.fifos)
            if (fifo.group == group)
              fifoBytes += bytesOf(fifo);
          for (const BufferInfo &buffer : design.buffers)
            if (design.findTask(buffer.task)->group == group)
              bytes += buffer.bytes;
          // What the budget is for: converters and accumulators.
          json.attribute("onchip_bytes", bytes);
          json.attribute("fifo_bytes", fifoBytes);
        });
    });
    optional("c_max_bytes", options.fusionBudgetBytes);
    json.attributeArray("decisions", [&] {
      for (const FusionInfo &decision : design.fusion)
        json.object([&] {
          json.attribute("op", decision.op);
          if (decision.producer.empty())
            json.attribute("producer", nullptr);
          else
            json.attribute("producer", decision.producer);
          json.attribute("fused", decision.fused);
          json.attribute("reason", decision.reason);
        });
    });
  });
}

/// All counts but DSP blocks.
void ReportWriter::writeStorage(const ResourceUse &use) {
  json.attribute("lut", use.lut);
  json.attribute("ff", use.ff);
  json.attribute("bram18", use.bram18);
  json.attribute("uram", use.uram);
}

void ReportWriter::writeTasks() {
  json.attributeArray("tasks", [&] {
    for (const TaskInfo &task : design.tasks)
      json.object([&] {
        json.attribute("name", task.name);
        json.attribute("kind", task.kind);
        json.attribute("group", task.group);
        json.attribute("source", task.source);
        json.attribute("macs", task.macs);
        json.attribute("ii", task.estimate.interval);
        json.attribute("depth", task.estimate.depth);
        json.attribute("latency_cycles", task.estimate.latency);
        json.attribute("initial_delay", task.estimate.initialDelay);
        json.attribute("origin",
                       task.estimate.isFromCsynth ? "csynth" : "estimated");
        json.attribute("ii_requested", task.estimate.requested);
        json.attribute("ii_cause", causeName(task.estimate.cause));
        const ResourceUse &use = task.estimate.resources;
        json.attribute("dsp", use.dsp);
        writeStorage(use);
        if (task.die.empty())
          json.attribute("die", nullptr);
        else
          json.attribute("die", task.die);
      });
  });
}

void ReportWriter::writeEdges() {
  json.attributeArray("edges", [&] {
    for (const EdgeInfo &edge : collectEdges(design))
      json.object([&] {
        json.attribute("producer", edge.producer);
        json.attribute("consumer", edge.consumer);
        json.attribute("kind", edgeKindName(edge.kind));
        json.attribute("bytes", edge.bytes);
        json.attributeArray("via", [&] {
          for (const std::string &task : edge.via)
            json.value(task);
        });
        json.attribute("reason", edge.reason);
      });
  });
}

void ReportWriter::writeFifos() {
  json.attributeArray("fifos", [&] {
    for (const FifoInfo &fifo : design.fifos)
      json.object([&] {
        json.attribute("name", fifo.name);
        json.attribute("producer", fifo.producer);
        json.attribute("consumer", fifo.consumer);
        json.attribute("token_bits", fifo.tokenBits);
        json.attribute("tokens", fifo.tokens);
        json.attribute("depth", fifo.depth);
        json.attribute("bits", fifo.bits());
        json.attribute("memory", memoryKindName(fifo.kind()));
        json.attribute("crossing", fifo.crossing);
        writeStorage(fifo.resources());
        // Counted when a run counts it; until then it is simulated.
        json.attribute("peak", nullptr);
        auto peak = options.simulatedPeaks.find(fifo.name);
        if (peak != options.simulatedPeaks.end())
          json.attribute("simulated_peak", peak->second);
        json.attribute("reason", fifo.reason);
      });
  });
}

void ReportWriter::writeConverters() {
  auto writeShape = [&](const BufferInfo &buffer) {
    json.attributeArray("buffer_shape", [&] {
      for (int64_t size : buffer.shape)
        json.value(size);
    });
  };
  json.attributeArray("converters", [&] {
    for (const BufferInfo &buffer : design.buffers)
      if (buffer.taskKind == "converter")
        json.object([&] {
          json.attribute("name", buffer.task);
          writeShape(buffer);
          json.attribute("bytes", buffer.bytes);
          json.attribute("ping_pong", buffer.pingPong);
          json.attribute("memory", buffer.memory);
          json.attribute("shared_loops", buffer.sharedLoops);
          json.attribute("reason", buffer.reason);
        });
  });
  json.attributeArray("buffers", [&] {
    for (const BufferInfo &buffer : design.buffers)
      if (buffer.taskKind != "converter")
        json.object([&] {
          json.attribute("name", buffer.name);
          json.attribute("task", buffer.task);
          writeShape(buffer);
          json.attribute("bytes", buffer.bytes);
          json.attribute("memory", buffer.memory);
        });
  });
}

void ReportWriter::writeMemory() {
  MemoryFigures figures = memoryFigures();
  json.attributeObject("memory", [&] {
    optional("intermediate_unfused_bytes", options.unfusedBytes);
    json.attribute("intermediate_fused_bytes", figures.intermediateBytes);
    if (options.unfusedBytes && *options.unfusedBytes > 0)
      json.attribute("ratio", static_cast<double>(figures.intermediateBytes) /
                                  static_cast<double>(*options.unfusedBytes));
    else
      json.attribute("ratio", nullptr);
    json.attribute("onchip_total_bytes", figures.onChipBytes);
    json.attribute("onchip_available_bytes", device.onChipBytes());
    json.attribute("label", "estimated");
  });
}

void ReportWriter::writeDma() {
  json.attributeArray("dma", [&] {
    for (const DmaInfo &dma : design.dma)
      json.object([&] {
        json.attribute("name", dma.name);
        json.attribute("direction", dma.direction);
        json.attribute("argument", dma.argument);
        json.attribute("bytes", dma.bytes);
        const ArgumentInfo *argument = design.findArgument(dma.argument);
        json.attribute("port_bits", argument ? argument->portBits : 0);
        json.attribute("burst_beats", argument ? argument->burstBeats : 0);
        json.attributeArray("hbm_channels", [&] {
          if (argument && argument->channel >= 0)
            for (int64_t i = 0; i < argument->channels; ++i)
              json.value(argument->channel + i);
        });
      });
  });
}

void ReportWriter::writeResource(llvm::StringRef key, int64_t used,
                                 int64_t available) {
  json.attributeObject(key, [&] {
    json.attribute("used", used);
    json.attribute("available", available);
    json.attribute("percent", available == 0
                                  ? 0.0
                                  : 100.0 * static_cast<double>(used) /
                                        static_cast<double>(available));
  });
}

void ReportWriter::writeResources() {
  ResourceUse total = design.resources();
  json.attributeObject("resources", [&] {
    writeResource("dsp", total.dsp, device.resources.dsp);
    writeResource("lut", total.lut, device.resources.lut);
    writeResource("ff", total.ff, device.resources.ff);
    writeResource("bram36", llvm::divideCeil(total.bram18, 2),
                  device.resources.bram36);
    writeResource("uram", total.uram, device.resources.uram);
    json.attributeArray("ports", [&] {
      for (const auto &[bundle, use] : design.ports())
        json.object([&, bundle = bundle, use = use] {
          json.attribute("name", bundle);
          writeStorage(use);
        });
    });
    writeDies();
    json.attribute("label", "estimated");
  });
}

/// What the device could do at most, and how many operations the design does
/// with a byte of memory. The peak is that of multiply-accumulates of f32 in
/// all DSP blocks.
void ReportWriter::writeRoofline() {
  int64_t macs = 0, bytes = 0;
  for (const TaskInfo &task : design.tasks)
    macs += task.macs;
  for (const DmaInfo &dma : design.dma)
    bytes += dma.bytes;
  const OperatorLibrary &operators = OperatorLibrary::standard();
  const int64_t dspPerMac =
      operators.get("fmul").dsp + operators.get("fadd").dsp;
  json.attributeObject("roofline", [&] {
    json.attribute("operations", 2 * macs);
    json.attribute("memory_bytes", bytes);
    json.attribute("operations_per_byte",
                   bytes > 0 ? 2 * double(macs) / double(bytes) : 0.0);
    json.attribute("arithmetic", "f32");
    json.attribute("peak_gigaoperations_per_second",
                   2 * double(device.resources.dsp) / double(dspPerMac) *
                       double(device.clockMHz) * 1e-3);
    json.attribute("peak_gigabytes_per_second", device.peakGigabytesPerSecond);
    json.attribute("memory_efficiency", device.memoryEfficiency);
    json.attribute("label", "estimated");
  });
}

/// What is on each die: its tasks, the FIFOs that they read, and, where the
/// memory is, its ports. Nothing for a design that was not assigned.
void ReportWriter::writeDies() {
  const bool isAssigned =
      llvm::any_of(design.tasks, [](const auto &t) { return !t.die.empty(); });
  llvm::StringMap<ResourceUse> used;
  for (const TaskInfo &task : design.tasks)
    used[task.die] += task.estimate.resources;
  for (const FifoInfo &fifo : design.fifos)
    if (const TaskInfo *reader = design.findTask(fifo.consumer))
      used[reader->die] += fifo.resources();
  for (const auto &[bundle, use] : design.ports())
    used[device.memoryDie] += use;
  json.attributeArray("dies", [&] {
    if (!isAssigned)
      return;
    for (const DieInfo &die : device.dies)
      json.object([&] {
        const ResourceUse use = used.lookup(die.name);
        json.attribute("name", die.name);
        writeResource("dsp", use.dsp, die.resources.dsp);
        writeResource("lut", use.lut, die.resources.lut);
        writeResource("ff", use.ff, die.resources.ff);
        writeResource("bram18", use.bram18, 2 * die.resources.bram36);
        writeResource("uram", use.uram, die.resources.uram);
      });
  });
}

void ReportWriter::writeAllocation() {
  json.attributeObject("allocation", [&] {
    json.attribute("strategy", options.fifoStrategy);
    json.attribute("strategy_fallback",
                   options.strategyFallback.empty()
                       ? llvm::json::Value(nullptr)
                       : llvm::json::Value(options.strategyFallback));
    optional("seconds", options.allocationSeconds);
    json.attribute("lp_seconds", options.lpSeconds
                                     ? llvm::json::Value(*options.lpSeconds)
                                     : llvm::json::Value(nullptr));
    optional("dies", options.dies);
    optional("memories", options.memories);
    optional("certificate", options.certificate);
  });
}

void ReportWriter::write() {
  json.object([&] {
    writeHead();
    writeSchedule();
    writeFusion();
    writeTasks();
    writeEdges();
    writeFifos();
    writeConverters();
    writeMemory();
    writeDma();
    writeResources();
    writeRoofline();
    writeAllocation();
    optional("simulation", options.simulation);
    optional("validation", options.validation);
    json.attributeObject(
        "artifacts", [&] { json.attribute("kernel_sha256", kernelSha256); });
  });
}

void streamtensor::writeReportJson(const DesignInfo &design,
                                   const DesignOptions &options,
                                   const DeviceInfo &device,
                                   llvm::StringRef kernelSha256,
                                   llvm::raw_ostream &os) {
  ReportWriter(design, options, device, kernelSha256, os).write();
  os << "\n";
}
