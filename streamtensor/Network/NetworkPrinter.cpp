//===- NetworkPrinter.cpp - The file of a timed network -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A process, FIFO or port on a line of its own; defaults are left out.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/NetworkJson.h"

#include <nlohmann/json.hpp>

using namespace streamtensor;
using Json = nlohmann::ordered_json;

static Json printTrip(const TripCount &trip) {
  return trip.isConstant() ? Json(trip.getConstant()) : Json(trip.str());
}

namespace {

class Printer {
public:
  explicit Printer(const TimedNetwork &network) : network(network) {}
  std::string print() const;

private:
  Json printSequence(const TimedSequence &sequence) const;
  Json printNode(const TimedNode &node) const;
  Json printProcess(const TimedProcess &process) const;
  Json printFifo(const TimedFifo &fifo) const;

  const TimedNetwork &network;
};

} // namespace

Json Printer::printSequence(const TimedSequence &sequence) const {
  Json nodes = Json::array();
  for (const TimedNode &node : sequence)
    nodes.push_back(printNode(node));
  return nodes;
}

Json Printer::printNode(const TimedNode &node) const {
  Json result;
  switch (node.kind) {
  case TimedNode::Kind::Access: {
    const bool isRead = node.access == AccessKind::Read ||
                        node.access == AccessKind::MemoryRead;
    if (isFifo(node.access)) {
      result[isRead ? "read" : "write"] = node.target;
    } else {
      result["memory"] = network.memory.ports[node.target].name;
      result["op"] = isRead ? "read" : "write";
      if (node.beats != 1)
        result["beats"] = node.beats;
      if (node.contiguous != 0)
        result["contiguous"] = node.contiguous;
    }
    if (node.stage != 0)
      result["stage"] = node.stage;
    break;
  }
  case TimedNode::Kind::Wait:
    result["wait"] = node.cycles;
    break;
  case TimedNode::Kind::Loop:
    result["loop"] = printTrip(node.trips.front());
    if (!node.label.empty())
      result["label"] = node.label;
    if (node.cycles != 0)
      result["overhead"] = node.cycles;
    result["body"] = printSequence(node.body);
    break;
  case TimedNode::Kind::Pipeline:
    result["pipeline"] = Json::array();
    for (const TripCount &trip : node.trips)
      result["pipeline"].push_back(printTrip(trip));
    if (!node.label.empty())
      result["label"] = node.label;
    result["ii"] = node.ii;
    result["depth"] = node.depth;
    result["body"] = printSequence(node.body);
    break;
  case TimedNode::Kind::Branch:
    result["if"] = node.condition.toString();
    result["then"] = printSequence(node.body);
    if (!node.otherwise.empty())
      result["else"] = printSequence(node.otherwise);
    break;
  }
  return result;
}

Json Printer::printProcess(const TimedProcess &process) const {
  Json result = {{"name", process.name}};
  if (process.kind != "compute")
    result["kind"] = process.kind;
  if (!process.source.empty())
    result["source"] = process.source;
  if (!process.stageOf.empty())
    result["stage_of"] = process.stageOf;
  if (process.hasProgram) {
    result["program"] = printSequence(process.program);
    return result;
  }
  result["latency"] = process.latency;
  result["accesses"] = Json::array();
  for (const PortAccesses &port : process.accesses) {
    Json access;
    const bool isRead = port.access == AccessKind::Read ||
                        port.access == AccessKind::MemoryRead;
    if (isFifo(port.access))
      access["fifo"] = port.target;
    else
      access["memory"] = network.memory.ports[port.target].name;
    access["op"] = isRead ? "read" : "write";
    if (port.beats != 1)
      access["beats"] = port.beats;
    if (port.contiguous != 0)
      access["contiguous"] = port.contiguous;
    access["at"] = Json::array();
    for (const AccessPattern &pattern : port.at) {
      Json entry = {pattern.first};
      for (auto level = pattern.levels.rbegin(); level != pattern.levels.rend();
           ++level) {
        entry.push_back(level->first);
        entry.push_back(level->second);
      }
      access["at"].push_back(std::move(entry));
    }
    result["accesses"].push_back(std::move(access));
  }
  return result;
}

Json Printer::printFifo(const TimedFifo &fifo) const {
  Json result = {{"name", fifo.name}};
  if (fifo.lanes != 1)
    result["lanes"] = fifo.lanes;
  result["depth"] = fifo.depth;
  result["width_bits"] = fifo.widthBits;
  result["producer"] = network.processes[fifo.writer].name;
  result["consumer"] = network.processes[fifo.reader].name;
  if (fifo.initialTokens != 0)
    result["initial_tokens"] = fifo.initialTokens;
  if (fifo.crossing != 0)
    result["crossing"] = fifo.crossing;
  if (fifo.isControl)
    result["control"] = true;
  if (fifo.isCarried)
    result["carried"] = true;
  return result;
}

std::string Printer::print() const {
  std::string text = "{\n\"schema\": 1";
  auto addKey = [&](const char *key, const Json &value) {
    text += ",\n\"" + std::string(key) + "\": " + value.dump();
  };
  auto addList = [&](const char *key, const auto &list, auto print) {
    text += ",\n\"" + std::string(key) + "\": [";
    const char *separator = "\n";
    for (const auto &item : list) {
      text += separator + Json(print(item)).dump();
      separator = ",\n";
    }
    text += "]";
  };
  addKey("design", network.design);
  if (network.clockNs > 0)
    addKey("clock_ns", network.clockNs);
  if (network.serialInvocations)
    addKey("serial_invocations", true);
  if (network.launchCycles != 0)
    addKey("launch_cycles", network.launchCycles);
  if (!network.repeat.empty())
    addKey("repeat", network.repeat);
  addList("parameters", network.parameters, [](const NetworkParameter &p) {
    return Json{{"name", p.name}, {"min", p.min}, {"max", p.max}};
  });
  if (!network.memory.ports.empty()) {
    Json channels = Json::array(), ports = Json::array();
    for (const TimedChannel &channel : network.memory.channels)
      channels.push_back({{"name", channel.name},
                          {"bytes_per_cycle", channel.bytesPerCycle},
                          {"latency", channel.latency}});
    for (const TimedPort &port : network.memory.ports)
      ports.push_back({{"name", port.name},
                       {"channel", network.memory.channels[port.channel].name},
                       {"beat_bytes", port.beatBytes},
                       {"burst_beats", port.burstBeats},
                       {"outstanding", port.outstanding}});
    Json memory;
    if (network.memory.peakBytesPerCycle > 0)
      memory["peak_bytes_per_cycle"] = network.memory.peakBytesPerCycle;
    if (network.memory.efficiency > 0)
      memory["efficiency"] = network.memory.efficiency;
    memory["channels"] = std::move(channels);
    memory["ports"] = std::move(ports);
    addKey("memory", memory);
  }
  addList("processes", network.processes,
          [&](const TimedProcess &process) { return printProcess(process); });
  addList("fifos", network.fifos,
          [&](const TimedFifo &fifo) { return printFifo(fifo); });
  addList("pipos", network.pingPongs, [&](const PingPong &array) {
    return Json{{"name", array.name},
                {"producer", network.processes[array.writer].name},
                {"consumer", network.processes[array.reader].name}};
  });
  if (!network.stalls.empty())
    addList("stalls", network.stalls, [&](const InjectedStall &stall) {
      return Json{{"process", network.processes[stall.process].name},
                  {"at", stall.at},
                  {"cycles", stall.cycles}};
    });
  return text + "\n}\n";
}

std::string streamtensor::printNetwork(const TimedNetwork &network) {
  return Printer(network).print();
}
