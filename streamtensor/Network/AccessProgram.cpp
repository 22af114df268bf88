//===- AccessProgram.cpp - FIFO accesses of processes ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Simplifying, counting, checking and printing access programs.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/AccessProgram.h"

#include <algorithm>

using namespace streamtensor;

using Kind = AccessNode::Kind;

AccessNode streamtensor::read(unsigned fifo, int64_t count) {
  AccessNode node;
  node.kind = Kind::Read;
  node.fifo = fifo;
  node.count = count;
  return node;
}

AccessNode streamtensor::write(unsigned fifo, int64_t count) {
  AccessNode node = read(fifo, count);
  node.kind = Kind::Write;
  return node;
}

AccessNode streamtensor::loop(int64_t trip, AccessSequence body) {
  AccessNode node;
  node.kind = Kind::Loop;
  node.count = trip;
  node.body = std::move(body);
  return node;
}

AccessNode streamtensor::branch(IndexExpr condition, AccessSequence body,
                                AccessSequence otherwise) {
  AccessNode node;
  node.kind = Kind::Branch;
  node.condition = std::move(condition);
  node.body = std::move(body);
  node.otherwise = std::move(otherwise);
  return node;
}

AccessNode streamtensor::together(AccessSequence accesses) {
  AccessNode node;
  node.kind = Kind::Group;
  node.body = std::move(accesses);
  return node;
}

//===----------------------------------------------------------------------===//
// simplify
//===----------------------------------------------------------------------===//

static bool containsBranch(const AccessSequence &sequence) {
  return std::any_of(
      sequence.begin(), sequence.end(), [](const AccessNode &node) {
        return node.kind == Kind::Branch || containsBranch(node.body);
      });
}

/// Appends `node`, or lengthens the last run when it is one of the same kind.
static void append(AccessSequence &sequence, AccessNode node) {
  if (node.isAccess() && !sequence.empty()) {
    AccessNode &last = sequence.back();
    if (last.kind == node.kind && last.fifo == node.fifo) {
      last.count += node.count;
      return;
    }
  }
  sequence.push_back(std::move(node));
}

AccessSequence streamtensor::simplify(const AccessSequence &sequence) {
  AccessSequence result;
  for (const AccessNode &node : sequence) {
    if (node.isAccess()) {
      if (node.count > 0)
        append(result, node);
      continue;
    }
    if (node.kind == Kind::Group) {
      // One access alone is a run of one.
      if (node.body.size() == 1)
        append(result, node.body.front());
      else if (!node.body.empty())
        result.push_back(node);
      continue;
    }
    // Products of counts below it may be absurd.
    if (node.kind == Kind::Loop && node.count <= 0)
      continue;
    AccessSequence body = simplify(node.body);
    if (node.kind == Kind::Branch) {
      AccessSequence otherwise = simplify(node.otherwise);
      if (!body.empty() || !otherwise.empty())
        result.push_back(
            branch(node.condition, std::move(body), std::move(otherwise)));
      continue;
    }
    if (body.empty())
      continue;
    if (containsBranch(body)) {
      result.push_back(loop(node.count, std::move(body)));
    } else if (node.count == 1) {
      for (AccessNode &inner : body)
        append(result, std::move(inner));
    } else if (body.size() == 1 && body.front().kind != Kind::Group) {
      // Only a run or a loop can stand here.
      AccessNode inner = std::move(body.front());
      inner.count *= node.count;
      append(result, std::move(inner));
    } else {
      result.push_back(loop(node.count, std::move(body)));
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// countAccesses
//===----------------------------------------------------------------------===//

static bool dependsOn(const AccessSequence &sequence, unsigned level) {
  return std::any_of(
      sequence.begin(), sequence.end(), [&](const AccessNode &node) {
        return (node.kind == Kind::Branch && node.condition.uses(level)) ||
               dependsOn(node.body, level) || dependsOn(node.otherwise, level);
      });
}

static void count(const AccessSequence &sequence, int64_t times,
                  std::vector<int64_t> &inductions,
                  std::vector<AccessCount> &counts) {
  for (const AccessNode &node : sequence) {
    if (node.kind == Kind::Read) {
      counts[node.fifo].reads += times * node.count;
    } else if (node.kind == Kind::Write) {
      counts[node.fifo].writes += times * node.count;
    } else if (node.kind == Kind::Branch) {
      const bool holds = node.condition.evaluate(inductions.data()) != 0;
      count(holds ? node.body : node.otherwise, times, inductions, counts);
    } else if (node.kind == Kind::Group) {
      count(node.body, times, inductions, counts);
    } else {
      const unsigned level = inductions.size();
      const bool enumerate = dependsOn(node.body, level);
      inductions.push_back(0);
      if (!enumerate)
        count(node.body, times * node.count, inductions, counts);
      for (int64_t i = 0; enumerate && i < node.count; ++i) {
        inductions[level] = i;
        count(node.body, times, inductions, counts);
      }
      inductions.pop_back();
    }
  }
}

std::vector<AccessCount>
streamtensor::countAccesses(const AccessSequence &sequence, size_t numFifos) {
  std::vector<AccessCount> counts(numFifos);
  std::vector<int64_t> inductions;
  count(simplify(sequence), 1, inductions, counts);
  return counts;
}

//===----------------------------------------------------------------------===//
// ProcessNetwork
//===----------------------------------------------------------------------===//

unsigned ProcessNetwork::addFifo(std::string name) {
  fifos.emplace_back().name = std::move(name);
  return fifos.size() - 1;
}

unsigned ProcessNetwork::addProcess(std::string name, AccessSequence program) {
  processes.push_back({std::move(name), std::move(program)});
  return processes.size() - 1;
}

/// Returns what is malformed about a program, or an empty string.
static std::string findFault(const AccessSequence &sequence, unsigned levels,
                             size_t numFifos) {
  for (const AccessNode &node : sequence) {
    if (node.isAccess() && node.fifo >= numFifos)
      return "expected the index of a fifo below " + std::to_string(numFifos) +
             " but got " + std::to_string(node.fifo);
    if (node.kind != Kind::Branch && node.count < 0)
      return "expected a count that is not negative but got " +
             std::to_string(node.count);
    if (node.kind == Kind::Group &&
        !std::all_of(node.body.begin(), node.body.end(),
                     [](const AccessNode &access) {
                       return access.isAccess() && access.count == 1;
                     }))
      return "expected single reads and writes in a group";
    if (node.kind == Kind::Branch) {
      if (!node.condition.isEvaluable())
        return "expected a condition that divides by positive constants only "
               "and holds at most " +
               std::to_string(IndexExpr::kMaxHeight) + " values at a time";
      if (node.condition.getNumLevels() > levels)
        return "expected a condition on the " + std::to_string(levels) +
               " loops around it but got '" + node.condition.toString() + "'";
    }
    const unsigned inner = levels + (node.kind == Kind::Loop);
    std::string fault = findFault(node.body, inner, numFifos);
    if (fault.empty())
      fault = findFault(node.otherwise, levels, numFifos);
    if (!fault.empty())
      return fault;
  }
  return "";
}

std::optional<NetworkIssue> ProcessNetwork::connect() {
  struct Ends {
    std::optional<unsigned> writer, reader;
    int64_t written = 0, read = 0;
  };
  std::vector<Ends> ends(fifos.size());
  for (unsigned process = 0; process < processes.size(); ++process) {
    const AccessProcess &self = processes[process];
    const std::string fault = findFault(self.program, 0, fifos.size());
    if (!fault.empty())
      return NetworkIssue{"process '" + self.name + "': " + fault, process, {}};
    const std::vector<AccessCount> counts =
        countAccesses(self.program, fifos.size());
    for (unsigned fifo = 0; fifo < fifos.size(); ++fifo) {
      auto claim = [&](std::optional<unsigned> &end, int64_t &total,
                       int64_t tokens,
                       const char *what) -> std::optional<NetworkIssue> {
        if (tokens == 0)
          return std::nullopt;
        if (end)
          return NetworkIssue{
              "expected one " + std::string(what) + " of fifo '" +
                  fifos[fifo].name + "' but got '" + processes[*end].name +
                  "' and '" + self.name + "'; insert an itensor.fork",
              process, *end};
        end = process;
        total = tokens;
        return std::nullopt;
      };
      if (auto issue = claim(ends[fifo].writer, ends[fifo].written,
                             counts[fifo].writes, "writer"))
        return issue;
      if (auto issue = claim(ends[fifo].reader, ends[fifo].read,
                             counts[fifo].reads, "reader"))
        return issue;
    }
  }
  for (unsigned fifo = 0; fifo < fifos.size(); ++fifo) {
    const Ends &end = ends[fifo];
    if (end.written != end.read) {
      auto by = [&](std::optional<unsigned> process) {
        return process ? " by '" + processes[*process].name + "'" : "";
      };
      const std::optional<unsigned> at = end.writer ? end.writer : end.reader;
      return NetworkIssue{
          "expected as many tokens read as written on fifo '" +
              fifos[fifo].name + "' but got " + std::to_string(end.written) +
              " written" + by(end.writer) + " and " + std::to_string(end.read) +
              " read" + by(end.reader),
          at, end.writer ? end.reader : std::nullopt};
    }
    fifos[fifo].tokens = end.written;
    fifos[fifo].writer = end.writer.value_or(0);
    fifos[fifo].reader = end.reader.value_or(0);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// toString
//===----------------------------------------------------------------------===//

static void print(const AccessSequence &sequence, const ProcessNetwork &network,
                  std::string &text) {
  const char *separator = "";
  for (const AccessNode &node : sequence) {
    text += separator;
    separator = "; ";
    if (node.isAccess()) {
      text += node.kind == Kind::Read ? "read " : "write ";
      text += network.fifos[node.fifo].name;
      if (node.count != 1)
        text += " * " + std::to_string(node.count);
      continue;
    }
    text += node.kind == Kind::Loop    ? "loop " + std::to_string(node.count)
            : node.kind == Kind::Group ? "together"
                                       : "if " + node.condition.toString();
    text += " { ";
    print(node.body, network, text);
    if (!node.otherwise.empty()) {
      text += " } else { ";
      print(node.otherwise, network, text);
    }
    text += " }";
  }
}

std::string streamtensor::toString(const AccessSequence &sequence,
                                   const ProcessNetwork &network) {
  std::string text;
  print(sequence, network, text);
  return text;
}

//===----------------------------------------------------------------------===//
// writeOut
//===----------------------------------------------------------------------===//

namespace {

/// Appends accesses, equal neighbours as one.
class AccessWriter {
public:
  AccessWriter(const ProcessNetwork &network, std::string &text)
      : network(network), text(text) {}

  void write(const AccessSequence &sequence) {
    for (const AccessNode &node : sequence) {
      switch (node.kind) {
      case Kind::Read:
      case Kind::Write:
        add(node.kind == Kind::Write, node.fifo, node.count);
        break;
      case Kind::Group:
        write(node.body);
        break;
      case Kind::Loop:
        inductions.push_back(0);
        for (int64_t i = 0; i < node.count; ++i) {
          inductions.back() = i;
          write(node.body);
        }
        inductions.pop_back();
        break;
      case Kind::Branch:
        write(node.condition.evaluate(inductions.data()) != 0 ? node.body
                                                              : node.otherwise);
        break;
      }
    }
  }
  void flush() {
    if (count > 0)
      text += (lastIsWrite ? "\tw " : "\tr ") + network.fifos[last].name + " " +
              std::to_string(count);
    count = 0;
  }

private:
  void add(bool isWrite, unsigned fifo, int64_t more) {
    if (count > 0 && (isWrite != lastIsWrite || fifo != last))
      flush();
    lastIsWrite = isWrite;
    last = fifo;
    count += more;
  }

  const ProcessNetwork &network;
  std::string &text;
  std::vector<int64_t> inductions;
  bool lastIsWrite = false;
  unsigned last = 0;
  int64_t count = 0;
};

} // namespace

std::string streamtensor::writeOut(const ProcessNetwork &network) {
  std::string text;
  for (const AccessProcess &process : network.processes) {
    text += process.name;
    AccessWriter writer(network, text);
    writer.write(process.program);
    writer.flush();
    text += "\n";
  }
  return text;
}
