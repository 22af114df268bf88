//===- Edges.cpp - How operations are connected ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Walks from each operation's FIFOs back over forks, converters and memory.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/Edges.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace streamtensor;

namespace {

class EdgeCollector {
public:
  explicit EdgeCollector(const DesignInfo &design) : design(design) {
    for (const TaskInfo &task : design.tasks)
      tasks[task.name] = &task;
    for (const FifoInfo &fifo : design.fifos)
      fifos[fifo.name] = &fifo;
    for (const TaskInfo &task : design.tasks)
      if (task.kind == "dma_out")
        stores[task.argument] = &task;
  }

  std::vector<EdgeInfo> run() {
    for (const TaskInfo &task : design.tasks) {
      const ArgumentInfo *memory = design.findArgument(task.argument);
      // What goes to a workspace is an edge of the task that reads it.
      bool isResult =
          task.kind == "dma_out" && memory && memory->role != "workspace";
      if (task.kind != "compute" && task.kind != "join" && !isResult)
        continue;
      for (const std::string &fifo : task.inputs)
        addEdge(fifo, isResult ? memory->name : task.name, isResult, memory);
    }
    return std::move(edges);
  }

private:
  static bool movesOnly(const TaskInfo &task) {
    return task.kind == "fork" || task.kind == "converter";
  }

  /// The task behind `fifo` that does more than to move data; fills in what
  /// lies between.
  const TaskInfo *findOrigin(llvm::StringRef fifo, EdgeInfo &edge,
                             int64_t &fifoBytes, std::string &reasons) {
    while (true) {
      const FifoInfo *info = fifos.lookup(fifo);
      fifoBytes += llvm::divideCeil(info->bits(), 8);
      const TaskInfo *task = tasks.lookup(info->producer);
      if (!movesOnly(*task))
        return task;
      edge.via.insert(edge.via.begin(), task->name);
      for (const BufferInfo &buffer : design.buffers) {
        if (buffer.task != task->name)
          continue;
        edge.kind = EdgeInfo::Kind::Converter;
        edge.bytes += buffer.bytes;
        if (!reasons.empty() && !buffer.reason.empty())
          reasons += "; ";
        reasons += buffer.reason;
      }
      fifo = task->inputs.front();
    }
  }

  void addEdge(llvm::StringRef fifo, const std::string &consumer, bool isResult,
               const ArgumentInfo *result) {
    EdgeInfo edge;
    edge.consumer = consumer;
    edge.kind = EdgeInfo::Kind::Fifo;
    int64_t fifoBytes = 0;
    std::string reasons;
    const TaskInfo *origin = findOrigin(fifo, edge, fifoBytes, reasons);
    edge.producer = origin->name;
    bool converts = edge.kind == EdgeInfo::Kind::Converter;
    if (origin->kind == "dma_in") {
      toMemory(edge, *origin, converts ? reasons : "");
    } else if (isResult) {
      edge.kind = EdgeInfo::Kind::Memory;
      edge.bytes = result->bytes;
      edge.reason = "a result of the function";
      if (converts)
        edge.reason += ", reordered on the way: " + reasons;
    } else if (converts) {
      edge.reason = reasons;
    } else {
      edge.bytes = fifoBytes;
      edge.reason = "both sides move the same tokens in the same order";
    }
    edges.push_back(std::move(edge));
  }

  /// The origin is a load: of an argument, or of what another group stored.
  void toMemory(EdgeInfo &edge, const TaskInfo &load,
                const std::string &converters) {
    const ArgumentInfo *argument = design.findArgument(load.argument);
    edge.kind = EdgeInfo::Kind::Memory;
    edge.producer = load.argument;
    edge.bytes = argument ? argument->bytes : 0;
    edge.reason = "an argument of the function";
    if (argument && argument->role == "workspace") {
      edge.via.insert(edge.via.begin(), load.argument);
      edge.reason = "it lies between two groups";
      EdgeInfo before;
      int64_t bytes = 0;
      std::string reasons;
      if (const TaskInfo *store = stores.lookup(load.argument)) {
        edge.producer =
            findOrigin(store->inputs.front(), before, bytes, reasons)->name;
        edge.via.insert(edge.via.begin(), before.via.begin(), before.via.end());
      }
      for (const FusionInfo &decision : design.fusion)
        if (decision.op == edge.consumer && decision.producer == edge.producer)
          edge.reason = decision.reason;
    }
    if (!converters.empty())
      edge.reason += "; read once and reordered on chip: " + converters;
  }

  const DesignInfo &design;
  llvm::StringMap<const TaskInfo *> tasks, stores;
  llvm::StringMap<const FifoInfo *> fifos;
  std::vector<EdgeInfo> edges;
};

} // namespace

llvm::StringRef streamtensor::edgeKindName(EdgeInfo::Kind kind) {
  switch (kind) {
  case EdgeInfo::Kind::Fifo:
    return "fifo";
  case EdgeInfo::Kind::Converter:
    return "converter";
  case EdgeInfo::Kind::Memory:
    return "memory";
  }
  llvm_unreachable("unknown kind of edge");
}

std::vector<EdgeInfo> streamtensor::collectEdges(const DesignInfo &design) {
  return EdgeCollector(design).run();
}
