//===- Network.cpp - The network of a design ------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading network.pn.json (docs/process-networks.md). Keys that nobody asks
// for are refused, because they may change what the network means.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Network.h"

#include <algorithm>

using namespace streamtensor::certificate;

Values Network::minima() const {
  Values values;
  for (const Parameter &parameter : parameters)
    values[parameter.name] = parameter.min;
  return values;
}

Values Network::maxima() const {
  Values values;
  for (const Parameter &parameter : parameters)
    values[parameter.name] = parameter.max;
  return values;
}

std::set<std::string> Network::parameterNames() const {
  std::set<std::string> names;
  for (const Parameter &parameter : parameters)
    names.insert(parameter.name);
  return names;
}

unsigned Network::findProcess(const std::string &name,
                              const std::string &place) const {
  for (unsigned index = 0; index < processes.size(); ++index)
    if (processes[index].name == name)
      return index;
  throw Refusal(place + ": expected the name of a process but got '" + name +
                "'");
}

bool streamtensor::certificate::hasAccess(const Sequence &sequence) {
  return std::any_of(sequence.begin(), sequence.end(), [](const Node &node) {
    return node.kind == Node::Kind::Access || hasAccess(node.body) ||
           hasAccess(node.otherwise);
  });
}

std::vector<Part> Loop::partsAt(const Values &fixed) const {
  const Expression all = trip.substitute(fixed);
  if (all.isConstant())
    return {{all, false}};
  std::vector<Part> result;
  for (const Part &part : parts)
    result.push_back({part.count.substitute(fixed), part.keepsLast});
  return result;
}

void streamtensor::certificate::bindConditions(Sequence &sequence,
                                               const Values &values) {
  for (Node &node : sequence) {
    if (node.kind == Node::Kind::Branch)
      node.condition = node.condition.substitute(values);
    bindConditions(node.body, values);
    bindConditions(node.otherwise, values);
  }
}

static void collectLoops(Sequence &sequence, std::vector<Loop *> &loops) {
  for (Node &node : sequence) {
    for (Loop &loop : node.loops)
      loops.push_back(&loop);
    collectLoops(node.body, loops);
    collectLoops(node.otherwise, loops);
  }
}

std::vector<Loop *> streamtensor::certificate::loopsOf(Sequence &program) {
  std::vector<Loop *> loops;
  collectLoops(program, loops);
  return loops;
}

static bool isLoop(const Node &node) { return node.kind == Node::Kind::Loop; }

size_t streamtensor::certificate::segmentLoop(const Process &stage) {
  return std::find_if(stage.program.begin(), stage.program.end(), isLoop) -
         stage.program.begin();
}

size_t streamtensor::certificate::endOfTask(const Network &network,
                                            size_t first) {
  const std::vector<Process> &processes = network.processes;
  size_t end = first + 1;
  while (!processes[first].task.empty() && end < processes.size() &&
         processes[end].task == processes[first].task)
    ++end;
  return end;
}

std::vector<Parameter>
streamtensor::certificate::readParameters(const Json &list,
                                          const std::string &place) {
  constexpr size_t kMostParameters = 8;
  std::vector<Parameter> parameters;
  std::set<std::string> names;
  for (const Json &value : arrayOf(list, place)) {
    Object item(value, place + "[" + std::to_string(parameters.size()) + "]");
    Parameter parameter;
    parameter.name = item.name("name");
    parameter.min = item.integerOr("min", 0, 0, INT32_MAX);
    parameter.max = item.integer("max", parameter.min, INT32_MAX);
    item.finish();
    if (!names.insert(parameter.name).second)
      throw Refusal(place + ": expected parameters that differ but got '" +
                    parameter.name + "' twice");
    parameters.push_back(std::move(parameter));
  }
  if (parameters.size() > kMostParameters)
    throw Refusal(place + ": expected at most 8 parameters");
  return parameters;
}

namespace {

class NetworkReader {
public:
  NetworkReader(const Json &document, const std::string &path)
      : file(document, path) {}
  Network read();

private:
  void readProcesses();
  void readFifos();
  void readArrays();
  void readPrograms();
  void checkEnds() const;
  void checkStages() const;
  Sequence readSequence(const Json &nodes, const std::string &place,
                        unsigned levels, bool inPipeline, unsigned nesting);
  void readNode(Object &item, const std::string &place, unsigned levels,
                bool inPipeline, unsigned nesting, Sequence &sequence);
  void readLoop(Object &item, Node &node, const Json &trips,
                const std::string &place, unsigned levels, unsigned nesting);
  unsigned fifoOf(const Json &value, const std::string &place) const;
  void checkDepth(const Sequence &sequence, int64_t depth,
                  const std::string &place) const;
  void countEnds(unsigned process, const Sequence &sequence,
                 std::vector<std::set<unsigned>> &writers,
                 std::vector<std::set<unsigned>> &readers) const;

  Object file;
  const Json *processList = nullptr;
  Network network;
  std::map<std::string, unsigned> processes, fifos;
  std::set<std::string> parameters;
};

} // namespace

static std::string at(const std::string &place, size_t index) {
  return place + "[" + std::to_string(index) + "]";
}

void NetworkReader::readProcesses() {
  processList = &file.array("processes");
  for (const Json &value : *processList) {
    Object item(value, at("processes", network.processes.size()));
    Process process;
    process.name = item.name("name");
    if (!processes.emplace(process.name, network.processes.size()).second)
      throw Refusal("processes: expected names that differ but got '" +
                    process.name + "' twice");
    network.processes.push_back(std::move(process));
  }
}

void NetworkReader::readFifos() {
  auto processOf = [&](Object &item, const char *key) {
    return network.findProcess(item.name(key), item.at(key));
  };
  for (const Json &value : file.arrayOr("fifos")) {
    Object item(value, at("fifos", network.fifos.size()));
    Fifo fifo;
    fifo.name = item.name("name");
    fifo.depth = item.integer("depth", 1);
    fifo.initialTokens = item.integerOr("initial_tokens", 0, 0);
    fifo.isControl = item.flagOr("control", false);
    fifo.isCarried = item.flagOr("carried", false);
    fifo.writer = processOf(item, "producer");
    fifo.reader = processOf(item, "consumer");
    item.integerOr("lanes", 1, 1);
    item.integerOr("width_bits", 1, 0);
    item.integerOr("crossing", 0, 0);
    item.finish();
    if (fifo.isCarried && (fifo.isControl || fifo.initialTokens != 0))
      throw Refusal("fifo '" + fifo.name +
                    "': expected neither initial tokens "
                    "nor a control FIFO where tokens are carried from one "
                    "invocation to the next");
    if (fifo.initialTokens > fifo.depth)
      throw Refusal("fifo '" + fifo.name + "': expected at most as many " +
                    "initial tokens as its depth, " +
                    std::to_string(fifo.depth) + ", but got " +
                    std::to_string(fifo.initialTokens));
    if (!fifos.emplace(fifo.name, network.fifos.size()).second)
      throw Refusal("fifos: expected names that differ but got '" + fifo.name +
                    "' twice");
    network.fifos.push_back(std::move(fifo));
  }
}

void NetworkReader::readArrays() {
  size_t index = 0;
  for (const Json &value : file.arrayOr("pipos")) {
    Object item(value, at("pipos", index++));
    item.ignore({"name"});
    Array array;
    array.writer =
        network.findProcess(item.name("producer"), item.at("producer"));
    array.reader =
        network.findProcess(item.name("consumer"), item.at("consumer"));
    item.finish();
    network.arrays.push_back(array);
  }
}

unsigned NetworkReader::fifoOf(const Json &value,
                               const std::string &place) const {
  if (value.is_string()) {
    const auto found = fifos.find(value.get<std::string>());
    if (found != fifos.end())
      return found->second;
    throw Refusal(place + ": expected a fifo but got " + spell(value));
  }
  return integerOf(value, place, 0, int64_t(network.fifos.size()) - 1);
}

/// Accesses of an iteration lie before its end.
void NetworkReader::checkDepth(const Sequence &sequence, int64_t depth,
                               const std::string &place) const {
  for (const Node &node : sequence) {
    if (node.kind == Node::Kind::Access && node.stage >= depth)
      throw Refusal(place + ": expected stages below the depth, " +
                    std::to_string(depth) + ", but got " +
                    std::to_string(node.stage));
    checkDepth(node.body, depth, place);
    checkDepth(node.otherwise, depth, place);
  }
}

void NetworkReader::readLoop(Object &item, Node &node, const Json &trips,
                             const std::string &place, unsigned levels,
                             unsigned nesting) {
  const bool isPipeline = node.kind == Node::Kind::Pipeline;
  auto addLoop = [&](const Json &value) {
    Loop loop;
    loop.trip = Expression::read(value, place, parameters);
    loop.parts = {{loop.trip, false}};
    node.loops.push_back(std::move(loop));
  };
  if (!isPipeline) {
    addLoop(trips);
  } else {
    for (const Json &trip : arrayOf(trips, place))
      addLoop(trip);
    if (node.loops.empty())
      throw Refusal(place + ": expected the trip counts of a pipeline");
  }
  item.ignore({"label"});
  node.level = levels;
  levels += node.loops.size();
  if (levels > kMaxLevels)
    throw Refusal(place + ": expected at most 64 loops inside of each other");
  node.body = readSequence(item.get("body"), place + ".body", levels,
                           isPipeline, nesting + 1);
  if (isPipeline)
    checkDepth(node.body, node.depth, place);
}

void NetworkReader::readNode(Object &item, const std::string &place,
                             unsigned levels, bool inPipeline, unsigned nesting,
                             Sequence &sequence) {
  constexpr int64_t kMostCycles = int64_t(1) << 40;
  Node node;
  auto stage = [&] {
    return inPipeline ? item.integerOr("stage", 0, 0, kMostCycles) : 0;
  };
  const Json *value = nullptr;
  if (!inPipeline && (value = item.find("wait"))) {
    node.kind = Node::Kind::Wait;
    node.cycles = integerOf(*value, place, 0, kMostCycles);
  } else if ((value = item.find("read")) || (value = item.find("write"))) {
    node.kind = Node::Kind::Access;
    node.isRead = item.find("read") != nullptr;
    node.fifo = fifoOf(*value, place);
    node.stage = stage();
  } else if ((value = item.find("memory"))) {
    // Memory answers after finitely many cycles; it makes nobody wait for a
    // process.
    item.ignore({"op", "beats", "contiguous", "stage"});
    item.finish();
    return;
  } else if (!inPipeline && (value = item.find("loop"))) {
    node.kind = Node::Kind::Loop;
    node.cycles = item.integerOr("overhead", 0, 0, kMostCycles);
    readLoop(item, node, *value, place, levels, nesting);
  } else if (!inPipeline && (value = item.find("pipeline"))) {
    node.kind = Node::Kind::Pipeline;
    node.ii = item.integer("ii", 1, kMostCycles);
    node.depth = item.integer("depth", 1, kMostCycles);
    readLoop(item, node, *value, place, levels, nesting);
  } else if ((value = item.find("if"))) {
    node.kind = Node::Kind::Branch;
    node.condition = Condition::read(*value, place, levels, parameters);
    node.body = readSequence(item.get("then"), place + ".then", levels,
                             inPipeline, nesting + 1);
    if (const Json *otherwise = item.find("else"))
      node.otherwise = readSequence(*otherwise, place + ".else", levels,
                                    inPipeline, nesting + 1);
  } else {
    throw Refusal(place + ": expected " +
                  (inPipeline ? "an access or a branch inside of a pipeline"
                              : "a node: wait, read, write, memory, loop, "
                                "pipeline, if"));
  }
  item.finish();
  if (node.kind != Node::Kind::Branch || !node.body.empty() ||
      !node.otherwise.empty())
    sequence.push_back(std::move(node));
}

Sequence NetworkReader::readSequence(const Json &nodes,
                                     const std::string &place, unsigned levels,
                                     bool inPipeline, unsigned nesting) {
  if (nesting > 64)
    throw Refusal(place + ": expected at most 64 nodes inside of each other");
  Sequence sequence;
  size_t index = 0;
  for (const Json &value : arrayOf(nodes, place)) {
    const std::string here = at(place, index++);
    Object item(value, here);
    readNode(item, here, levels, inPipeline, nesting, sequence);
  }
  return sequence;
}

void NetworkReader::readPrograms() {
  for (unsigned index = 0; index < network.processes.size(); ++index) {
    Process &process = network.processes[index];
    const std::string place = "process '" + process.name + "'";
    Object item((*processList)[index], place);
    item.ignore({"name", "kind", "source", "loops"});
    if (item.find("stage_of"))
      process.task = item.name("stage_of");
    if (!item.find("program"))
      throw Refusal(place + ": expected a program; a process that is given by "
                            "cycles cannot be certified");
    process.program =
        readSequence(item.get("program"), place + ".program", 0, false, 0);
    item.finish();
  }
}

void NetworkReader::countEnds(unsigned process, const Sequence &sequence,
                              std::vector<std::set<unsigned>> &writers,
                              std::vector<std::set<unsigned>> &readers) const {
  for (const Node &node : sequence) {
    if (node.kind == Node::Kind::Access)
      (node.isRead ? readers : writers)[node.fifo].insert(process);
    countEnds(process, node.body, writers, readers);
    countEnds(process, node.otherwise, writers, readers);
  }
}

void NetworkReader::checkEnds() const {
  std::vector<std::set<unsigned>> writers(network.fifos.size());
  std::vector<std::set<unsigned>> readers(network.fifos.size());
  for (unsigned index = 0; index < network.processes.size(); ++index)
    countEnds(index, network.processes[index].program, writers, readers);
  for (unsigned index = 0; index < network.fifos.size(); ++index) {
    const Fifo &fifo = network.fifos[index];
    auto check = [&](const std::set<unsigned> &ends, unsigned named,
                     const char *what) {
      for (unsigned end : ends)
        if (end != named)
          throw Refusal("fifo '" + fifo.name + "': expected only its " + what +
                        ", '" + network.processes[named].name +
                        "', at this end but got '" +
                        network.processes[end].name + "'");
    };
    check(writers[index], fifo.writer, "producer");
    check(readers[index], fifo.reader, "consumer");
  }
}

/// In program order the stages of a task run one after the other in each
/// segment; what stands outside of the loop over the segments must have a place
/// in that order.
void NetworkReader::checkStages() const {
  std::set<std::string> tasks;
  for (size_t first = 0, end = 0; first < network.processes.size();
       first = end) {
    end = endOfTask(network, first);
    const std::string &task = network.processes[first].task;
    if (task.empty())
      continue;
    if (!tasks.insert(task).second)
      throw Refusal("task '" + task +
                    "': expected its stages one after the other");
    for (size_t index = first; index < end; ++index) {
      const Process &stage = network.processes[index];
      const size_t loop = segmentLoop(stage);
      const auto &program = stage.program;
      if (std::count_if(program.begin(), program.end(), isLoop) != 1)
        throw Refusal("process '" + stage.name +
                      "': expected one outermost loop in the stage of a task");
      const Sequence before(program.begin(), program.begin() + loop);
      const Sequence after(program.begin() + loop + 1, program.end());
      if ((index != first && hasAccess(before)) ||
          (index + 1 != end && hasAccess(after)))
        throw Refusal("process '" + stage.name +
                      "': expected accesses of a stage in its segments only");
    }
  }
}

/// Reads of `fifo` in `sequence`.
static int64_t countReads(const Sequence &sequence, unsigned fifo,
                          const Values &values) {
  // Sums beyond 63 bits are refused where they are made.
  Expression total;
  for (const Node &node : sequence) {
    if (node.kind == Node::Kind::Access) {
      total = total + Expression(node.isRead && node.fifo == fifo ? 1 : 0);
      continue;
    }
    Expression each(countReads(node.body, fifo, values));
    if (node.kind == Node::Kind::Branch &&
        (each.getConstant() != 0 ||
         countReads(node.otherwise, fifo, values) != 0))
      throw Refusal("expected no condition around reads of tokens that are "
                    "carried from one invocation to the next");
    for (const Loop &loop : node.loops)
      each = each * loop.trip.evaluate(values);
    total = total + each;
  }
  return total.getConstant();
}

int64_t streamtensor::certificate::initialTokensOf(const Network &network,
                                                   unsigned fifo,
                                                   const Values &values) {
  const Fifo &self = network.fifos[fifo];
  if (!self.isCarried)
    return self.initialTokens;
  const int64_t tokens =
      countReads(network.processes[self.reader].program, fifo, values);
  if (tokens > self.depth)
    throw Refusal("fifo '" + self.name + "': expected a depth of " +
                  std::to_string(tokens) +
                  ", all tokens that are carried to the next invocation, but "
                  "got " +
                  std::to_string(self.depth));
  return tokens;
}

Network NetworkReader::read() {
  file.integerOr("schema", 1, 1, 1);
  file.ignore({"design", "tool", "part", "clock_ns", "rtl_cycles", "memory",
               "launch_cycles", "stalls"});
  network.isSerial = file.flagOr("serial_invocations", false);
  network.parameters = readParameters(file.arrayOr("parameters"), "parameters");
  parameters = network.parameterNames();
  // Any number of invocations ends where one does.
  if (file.find("repeat") && !parameters.count(file.name("repeat")))
    throw Refusal("repeat: expected a parameter but got '" +
                  file.name("repeat") + "'");
  readProcesses();
  readFifos();
  readPrograms();
  readArrays();
  file.finish();
  checkEnds();
  checkStages();
  return std::move(network);
}

Network streamtensor::certificate::readNetwork(const Json &document,
                                               const std::string &path) {
  try {
    return NetworkReader(document, "network").read();
  } catch (const Refusal &refusal) {
    throw Refusal(path + ": " + refusal.what());
  }
}
