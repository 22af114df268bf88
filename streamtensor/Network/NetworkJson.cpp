//===- NetworkJson.cpp - The file of a timed network ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A strict reader: a key that nobody asked for is an error, because a setting
// that is misspelled must not be ignored.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/NetworkJson.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

using namespace streamtensor;
using nlohmann::json;

namespace {

/// Thrown and caught in this file only.
struct Fault {
  std::string message;
};

/// A key as messages show it: on one line and not too long.
std::string quoteKey(const std::string &key) {
  std::string text = "'";
  for (char c : key.substr(0, 80))
    text += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  return text + "'";
}

/// An object whose keys are taken one after the other.
class Fields {
public:
  Fields(const json &value, std::string place)
      : value(value), place(std::move(place)) {
    if (!value.is_object())
      throw Fault{this->place + ": expected an object but got " + spell(value)};
  }

  const json *find(const char *key) {
    auto at = value.find(key);
    if (at == value.end())
      return nullptr;
    taken.push_back(key);
    return &*at;
  }
  const json &get(const char *key) {
    if (const json *found = find(key))
      return *found;
    throw Fault{place + ": expected the key '" + std::string(key) + "'"};
  }
  std::string string(const char *key) { return asString(get(key), key); }
  std::string stringOr(const char *key, std::string otherwise) {
    const json *found = find(key);
    return found ? asString(*found, key) : std::move(otherwise);
  }
  int64_t integer(const char *key) { return asInteger(get(key), key); }
  int64_t integerOr(const char *key, int64_t otherwise) {
    const json *found = find(key);
    return found ? asInteger(*found, key) : otherwise;
  }
  double number(const char *key) {
    const json &found = get(key);
    if (!found.is_number())
      fail(key, "a number", found);
    return found.get<double>();
  }
  bool booleanOr(const char *key, bool otherwise) {
    const json *found = find(key);
    if (!found)
      return otherwise;
    if (!found->is_boolean())
      fail(key, "true or false", *found);
    return found->get<bool>();
  }
  /// An array, empty where it is missing.
  const json &arrayOr(const char *key) {
    static const json empty = json::array();
    const json *found = find(key);
    if (!found)
      return empty;
    if (!found->is_array())
      fail(key, "an array", *found);
    return *found;
  }
  void ignore(std::initializer_list<const char *> keys) {
    for (const char *key : keys)
      find(key);
  }
  /// All keys must have been taken.
  void finish() const {
    for (const auto &[key, unused] : value.items())
      if (std::find(taken.begin(), taken.end(), key) == taken.end())
        throw Fault{place + ": unknown key " + quoteKey(key)};
  }
  [[noreturn]] void fail(const std::string &key, const std::string &expected,
                         const json &got) const {
    throw Fault{place + "." + key + ": expected " + expected + " but got " +
                spell(got)};
  }
  static std::string spell(const json &value) {
    std::string text =
        value.dump(-1, ' ', true, json::error_handler_t::replace);
    return text.size() > 60 ? text.substr(0, 57) + "..." : text;
  }
  const std::string &where() const { return place; }

  int64_t asInteger(const json &found, const std::string &key) const {
    // Numbers beyond 2^53 are rounded by other readers of JSON.
    constexpr int64_t limit = int64_t(1) << 53;
    if (!found.is_number_integer() ||
        (found.is_number_unsigned() &&
         found.get<uint64_t>() > uint64_t(limit)) ||
        found.get<int64_t>() > limit || found.get<int64_t>() < -limit)
      fail(key, "an integer below 2^53", found);
    return found.get<int64_t>();
  }

private:
  std::string asString(const json &found, const std::string &key) const {
    if (!found.is_string())
      fail(key, "a string", found);
    std::string text = found.get<std::string>();
    // Names stand in messages of one line.
    if (std::any_of(text.begin(), text.end(),
                    [](unsigned char c) { return c < ' ' || c == 127; }))
      fail(key, "a string of printable characters", found);
    return text;
  }

  const json &value;
  std::string place;
  std::vector<std::string> taken;
};

/// Finds things by name, or by index.
class Names {
public:
  void add(const std::string &name) { indices.emplace(name, indices.size()); }
  /// Refuses two of a name.
  void addUnique(const std::string &name, const std::string &place) {
    if (!indices.emplace(name, indices.size()).second)
      throw Fault{place + ": expected names that differ but got '" + name +
                  "' twice"};
  }
  unsigned size() const { return indices.size(); }
  unsigned find(const json &value, Fields &fields, const char *key,
                const char *what) const {
    if (value.is_string()) {
      auto at = indices.find(value.get<std::string>());
      if (at != indices.end())
        return at->second;
    }
    fields.fail(key, std::string("the name of a ") + what, value);
  }

private:
  std::map<std::string, unsigned> indices;
};

class NetworkReader {
public:
  TimedNetwork read(const json &document);

private:
  void readParameters(Fields &fields);
  void readMemory(Fields &fields);
  void readFifos(Fields &fields);
  void readProcess(Fields &fields, TimedProcess &process);
  void readAccess(Fields &fields, TimedProcess &process);
  TimedSequence readSequence(const json &nodes, const std::string &place,
                             unsigned levels, bool inPipeline, unsigned depth);
  TimedNode readNode(Fields &fields, unsigned levels, bool inPipeline,
                     unsigned depth);
  TripCount readTrip(const json &value, Fields &fields, const char *key);
  unsigned readFifo(const json &value, Fields &fields, const char *key);

  TimedNetwork network;
  Names processNames, channelNames, portNames;
  std::map<std::string, unsigned> fifoNames;
  ParameterValues maxima;
};

} // namespace

/// Parses text. Nothing for what is no JSON; faults for brackets that are
/// nested absurdly deep, because messages print values, which is recursive, and
/// for a key that stands twice in an object, because one would be ignored.
static json parseJson(std::string_view text) {
  constexpr size_t kMaxNesting = 256;
  // The keys of each object that is open; none for arrays.
  std::vector<std::set<std::string>> open;
  auto visit = [&](int, json::parse_event_t event, json &value) {
    switch (event) {
    case json::parse_event_t::object_start:
    case json::parse_event_t::array_start:
      if (open.size() == kMaxNesting)
        throw Fault{"expected JSON with at most 256 brackets inside of each "
                    "other"};
      open.emplace_back();
      break;
    case json::parse_event_t::object_end:
    case json::parse_event_t::array_end:
      open.pop_back();
      break;
    case json::parse_event_t::key:
      if (!open.back().insert(value.get<std::string>()).second)
        throw Fault{"expected each key once in an object but got " +
                    quoteKey(value.get<std::string>()) + " twice"};
      break;
    case json::parse_event_t::value:
      break;
    }
    return true;
  };
  return json::parse(text.begin(), text.end(), visit, false);
}

static std::string indexed(const char *key, size_t index) {
  return std::string(key) + "[" + std::to_string(index) + "]";
}

void NetworkReader::readParameters(Fields &fields) {
  size_t index = 0;
  for (const json &value : fields.arrayOr("parameters")) {
    Fields item(value, indexed("parameters", index++));
    NetworkParameter parameter;
    parameter.name = item.string("name");
    parameter.min = item.integerOr("min", 0);
    parameter.max = item.integer("max");
    item.finish();
    if (!maxima.emplace(parameter.name, parameter.max).second)
      throw Fault{item.where() + ": expected names that differ but got '" +
                  parameter.name + "' twice"};
    network.parameters.push_back(std::move(parameter));
  }
}

void NetworkReader::readMemory(Fields &fields) {
  const json *found = fields.find("memory");
  if (!found)
    return;
  Fields memory(*found, "memory");
  if (memory.find("peak_bytes_per_cycle"))
    network.memory.peakBytesPerCycle = memory.number("peak_bytes_per_cycle");
  if (memory.find("efficiency"))
    network.memory.efficiency = memory.number("efficiency");
  size_t index = 0;
  for (const json &value : memory.arrayOr("channels")) {
    Fields item(value, indexed("memory.channels", index++));
    TimedChannel channel;
    channel.name = item.string("name");
    channel.bytesPerCycle = item.number("bytes_per_cycle");
    channel.latency = item.integerOr("latency", 0);
    item.finish();
    channelNames.addUnique(channel.name, item.where());
    network.memory.channels.push_back(std::move(channel));
  }
  index = 0;
  for (const json &value : memory.arrayOr("ports")) {
    Fields item(value, indexed("memory.ports", index++));
    TimedPort port;
    port.name = item.string("name");
    port.channel =
        channelNames.find(item.get("channel"), item, "channel", "channel");
    port.beatBytes = item.integerOr("beat_bytes", port.beatBytes);
    port.burstBeats = item.integerOr("burst_beats", port.burstBeats);
    port.outstanding = item.integerOr("outstanding", port.outstanding);
    item.finish();
    portNames.addUnique(port.name, item.where());
    network.memory.ports.push_back(std::move(port));
  }
  memory.finish();
}

void NetworkReader::readFifos(Fields &fields) {
  size_t index = 0;
  for (const json &value : fields.arrayOr("fifos")) {
    Fields item(value, indexed("fifos", index));
    TimedFifo fifo;
    fifo.name = item.stringOr("name", std::to_string(index));
    fifo.lanes = item.integerOr("lanes", 1);
    fifo.depth = item.integer("depth");
    fifo.widthBits = item.integerOr("width_bits", 32);
    fifo.initialTokens = item.integerOr("initial_tokens", 0);
    fifo.crossing = item.integerOr("crossing", 0);
    fifo.isControl = item.booleanOr("control", false);
    fifo.isCarried = item.booleanOr("carried", false);
    fifo.writer =
        processNames.find(item.get("producer"), item, "producer", "process");
    fifo.reader =
        processNames.find(item.get("consumer"), item, "consumer", "process");
    item.finish();
    // Two FIFOs may have one name in published networks; indices differ.
    fifoNames.emplace(fifo.name, index++);
    network.fifos.push_back(std::move(fifo));
  }
}

unsigned NetworkReader::readFifo(const json &value, Fields &fields,
                                 const char *key) {
  if (value.is_number_integer()) {
    const int64_t index = fields.asInteger(value, key);
    if (index >= 0 && index < int64_t(network.fifos.size()))
      return index;
  } else if (value.is_string()) {
    auto at = fifoNames.find(value.get<std::string>());
    if (at != fifoNames.end())
      return at->second;
  }
  fields.fail(key,
              "the name of a fifo or an index below " +
                  std::to_string(network.fifos.size()),
              value);
}

TripCount NetworkReader::readTrip(const json &value, Fields &fields,
                                  const char *key) {
  if (value.is_number_integer())
    return TripCount(fields.asInteger(value, key));
  if (!value.is_string())
    fields.fail(key, "an integer or an expression of parameters", value);
  ParameterValues known = maxima;
  std::string error;
  std::optional<TripCount> trip =
      TripCount::parse(value.get<std::string>(), known, error);
  if (!trip || known.size() != maxima.size()) {
    std::string names;
    for (const auto &[name, unused] : maxima)
      names += (names.empty() ? " " : ", ") + quoteKey(name);
    fields.fail(key, "an expression of the network's parameters" + names,
                value);
  }
  return *trip;
}

static AccessKind readOp(Fields &fields, bool isMemory) {
  const std::string op = fields.string("op");
  if (op != "read" && op != "write")
    fields.fail("op", "'read' or 'write'", op);
  const bool isRead = op == "read";
  return isMemory ? (isRead ? AccessKind::MemoryRead : AccessKind::MemoryWrite)
                  : (isRead ? AccessKind::Read : AccessKind::Write);
}

void NetworkReader::readAccess(Fields &fields, TimedProcess &process) {
  PortAccesses port;
  const json *memory = fields.find("memory");
  port.access = readOp(fields, memory != nullptr);
  if (memory) {
    port.target = portNames.find(*memory, fields, "memory", "memory port");
    port.beats = fields.integerOr("beats", 1);
    port.contiguous = fields.integerOr("contiguous", 0);
  } else {
    port.target = readFifo(fields.get("fifo"), fields, "fifo");
  }
  const json &entries = fields.get("at");
  if (!entries.is_array())
    fields.fail("at", "an array", entries);
  for (const json &entry : entries) {
    if (!entry.is_array() || entry.empty() || entry.size() % 2 == 0 ||
        entry.size() > 17)
      fields.fail("at", "entries [t0, dt, n, DT, N, ...]", entry);
    AccessPattern pattern;
    pattern.first = fields.asInteger(entry[0], "at");
    for (size_t i = 1; i < entry.size(); i += 2)
      pattern.levels.insert(pattern.levels.begin(),
                            {fields.asInteger(entry[i], "at"),
                             fields.asInteger(entry[i + 1], "at")});
    port.at.push_back(std::move(pattern));
  }
  fields.finish();
  process.accesses.push_back(std::move(port));
}

TimedNode NetworkReader::readNode(Fields &fields, unsigned levels,
                                  bool inPipeline, unsigned depth) {
  TimedNode node;
  if (const json *value = fields.find("wait")) {
    node.kind = TimedNode::Kind::Wait;
    node.cycles = fields.asInteger(*value, "wait");
  } else if (const json *value = fields.find("read")) {
    node = timedRead(readFifo(*value, fields, "read"),
                     inPipeline ? fields.integerOr("stage", 0) : 0);
  } else if (const json *value = fields.find("write")) {
    node = timedWrite(readFifo(*value, fields, "write"),
                      inPipeline ? fields.integerOr("stage", 0) : 0);
  } else if (const json *value = fields.find("memory")) {
    node.kind = TimedNode::Kind::Access;
    node.access = readOp(fields, true);
    node.target = portNames.find(*value, fields, "memory", "memory port");
    node.beats = fields.integerOr("beats", 1);
    node.contiguous = fields.integerOr("contiguous", 0);
    node.stage = inPipeline ? fields.integerOr("stage", 0) : 0;
  } else if (const json *value = fields.find("loop")) {
    node.kind = TimedNode::Kind::Loop;
    node.trips = {readTrip(*value, fields, "loop")};
    node.cycles = fields.integerOr("overhead", 0);
    node.label = fields.stringOr("label", "");
    node.body = readSequence(fields.get("body"), fields.where() + ".body",
                             levels + 1, false, depth + 1);
  } else if (const json *value = fields.find("pipeline")) {
    node.kind = TimedNode::Kind::Pipeline;
    if (!value->is_array() || value->empty())
      fields.fail("pipeline", "an array of trip counts", *value);
    for (const json &trip : *value)
      node.trips.push_back(readTrip(trip, fields, "pipeline"));
    node.ii = fields.integer("ii");
    node.depth = fields.integer("depth");
    node.label = fields.stringOr("label", "");
    node.body =
        readSequence(fields.get("body"), fields.where() + ".body",
                     levels + unsigned(node.trips.size()), true, depth + 1);
  } else if (const json *value = fields.find("if")) {
    node.kind = TimedNode::Kind::Branch;
    if (!value->is_string())
      fields.fail("if", "a condition", *value);
    std::string error;
    std::optional<IndexExpr> condition =
        parseCondition(value->get<std::string>(), levels, maxima, error);
    if (!condition)
      throw Fault{fields.where() + ".if: " + error};
    node.condition = *condition;
    node.body = readSequence(fields.get("then"), fields.where() + ".then",
                             levels, inPipeline, depth + 1);
    if (const json *otherwise = fields.find("else"))
      node.otherwise = readSequence(*otherwise, fields.where() + ".else",
                                    levels, inPipeline, depth + 1);
  } else {
    throw Fault{fields.where() + ": expected one of the keys wait, read, "
                                 "write, memory, loop, pipeline, if"};
  }
  fields.finish();
  return node;
}

TimedSequence NetworkReader::readSequence(const json &nodes,
                                          const std::string &place,
                                          unsigned levels, bool inPipeline,
                                          unsigned depth) {
  constexpr unsigned kMaxNesting = 64;
  if (!nodes.is_array())
    throw Fault{place + ": expected an array of nodes but got " +
                Fields::spell(nodes)};
  if (depth > kMaxNesting)
    throw Fault{place + ": expected at most 64 nodes inside of each other"};
  TimedSequence sequence;
  for (const json &value : nodes) {
    Fields fields(value, place + "[" + std::to_string(sequence.size()) + "]");
    sequence.push_back(readNode(fields, levels, inPipeline, depth));
  }
  return sequence;
}

void NetworkReader::readProcess(Fields &fields, TimedProcess &process) {
  fields.ignore({"name", "loops"});
  process.kind = fields.stringOr("kind", "compute");
  process.source = fields.stringOr("source", "");
  process.stageOf = fields.stringOr("stage_of", "");
  if (const json *program = fields.find("program")) {
    process.hasProgram = true;
    process.program =
        readSequence(*program, fields.where() + ".program", 0, false, 0);
  } else {
    process.latency = fields.integer("latency");
    size_t index = 0;
    for (const json &value : fields.arrayOr("accesses")) {
      Fields access(value, fields.where() + "." + indexed("accesses", index++));
      readAccess(access, process);
    }
  }
  fields.finish();
}

TimedNetwork NetworkReader::read(const json &document) {
  Fields fields(document, "network");
  if (fields.integerOr("schema", 1) != 1)
    fields.fail("schema", "1", *fields.find("schema"));
  fields.ignore({"tool", "part", "rtl_cycles"});
  network.design = fields.stringOr("design", "");
  if (fields.find("clock_ns"))
    network.clockNs = fields.number("clock_ns");
  network.serialInvocations = fields.booleanOr("serial_invocations", false);
  network.launchCycles = fields.integerOr("launch_cycles", 0);
  network.repeat = fields.stringOr("repeat", "");
  readParameters(fields);
  readMemory(fields);
  const json &processes = fields.get("processes");
  if (!processes.is_array() || processes.empty())
    fields.fail("processes", "an array of at least one process", processes);
  for (const json &value : processes) {
    Fields item(value, indexed("processes", network.processes.size()));
    TimedProcess &process = network.processes.emplace_back();
    process.name = item.string("name");
    processNames.addUnique(process.name, item.where());
  }
  readFifos(fields);
  for (size_t index = 0; index < processes.size(); ++index) {
    Fields item(processes[index],
                "process '" + network.processes[index].name + "'");
    readProcess(item, network.processes[index]);
  }
  size_t index = 0;
  for (const json &value : fields.arrayOr("pipos")) {
    Fields item(value, indexed("pipos", index));
    PingPong array;
    array.name = item.stringOr("name", std::to_string(index++));
    array.writer =
        processNames.find(item.get("producer"), item, "producer", "process");
    array.reader =
        processNames.find(item.get("consumer"), item, "consumer", "process");
    item.finish();
    network.pingPongs.push_back(std::move(array));
  }
  index = 0;
  for (const json &value : fields.arrayOr("stalls")) {
    Fields item(value, indexed("stalls", index++));
    InjectedStall stall;
    stall.process =
        processNames.find(item.get("process"), item, "process", "process");
    stall.at = item.integer("at");
    stall.cycles = item.integer("cycles");
    item.finish();
    network.stalls.push_back(stall);
  }
  fields.finish();
  return std::move(network);
}

std::optional<TimedNetwork> streamtensor::parseNetwork(std::string_view text,
                                                       std::string &error) {
  try {
    const json document = parseJson(text);
    if (document.is_discarded())
      throw Fault{"expected JSON"};
    return NetworkReader().read(document);
  } catch (const Fault &fault) {
    error = fault.message;
    return std::nullopt;
  }
}

/// A whole file, which may be empty.
static std::optional<std::string> readText(const std::string &path,
                                           std::string &error) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  const bool isEmpty =
      file && file.peek() == std::ifstream::traits_type::eof() && !file.bad();
  if (!isEmpty && !(file && text << file.rdbuf())) {
    error = path + ": cannot be read";
    return std::nullopt;
  }
  return text.str();
}

std::optional<TimedNetwork>
streamtensor::readNetworkFile(const std::string &path, std::string &error) {
  const std::optional<std::string> text = readText(path, error);
  if (!text)
    return std::nullopt;
  std::optional<TimedNetwork> network = parseNetwork(*text, error);
  if (network)
    if (std::optional<std::string> fault = network->check()) {
      error = *fault;
      network.reset();
    }
  if (!network)
    error = path + ": " + error;
  return network;
}

static void setDepths(std::string_view text, TimedNetwork &network) {
  const json document = parseJson(text);
  if (!document.is_object())
    throw Fault{"expected a JSON object of depths by name of fifo"};
  std::map<std::string, std::vector<TimedFifo *>> fifos;
  for (size_t i = 0; i < network.fifos.size(); ++i) {
    fifos[network.fifos[i].name].push_back(&network.fifos[i]);
    if (network.fifos[i].name != std::to_string(i))
      fifos[std::to_string(i)].push_back(&network.fifos[i]);
  }
  for (const auto &[name, value] : document.items()) {
    auto at = fifos.find(name);
    if (at == fifos.end())
      throw Fault{"expected the name of a fifo but got " + quoteKey(name)};
    constexpr int64_t kMost = int64_t(1) << 42;
    const bool isDepth =
        value.is_number_unsigned() && value.get<uint64_t>() - 1 < kMost;
    if (!isDepth)
      throw Fault{"expected a depth from 1 on for fifo '" + name +
                  "' but got " + Fields::spell(value)};
    for (TimedFifo *fifo : at->second)
      fifo->depth = value.get<int64_t>();
  }
}

std::optional<std::string> streamtensor::applyDepths(std::string_view text,
                                                     TimedNetwork &network) {
  try {
    setDepths(text, network);
    return std::nullopt;
  } catch (const Fault &fault) {
    return fault.message;
  }
}

std::optional<std::string>
streamtensor::applyDepthsFile(const std::string &path, TimedNetwork &network) {
  std::string error;
  const std::optional<std::string> text = readText(path, error);
  if (!text)
    return error;
  if (const std::optional<std::string> fault = applyDepths(*text, network))
    return path + ": " + *fault;
  return std::nullopt;
}
