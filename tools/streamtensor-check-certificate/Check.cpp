//===- Check.cpp - The check of one certificate ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In order of cost: that the certificate belongs to the design, that its base
// points cover all values, that the network ends at each of them.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Check.h"

#include "streamtensor/Support/Sha256.h"
#include "tools/streamtensor-check-certificate/Certificate.h"
#include "tools/streamtensor-check-certificate/Design.h"
#include "tools/streamtensor-check-certificate/Execution.h"
#include "tools/streamtensor-check-certificate/Reduction.h"

#include <algorithm>
#include <istream>
#include <ostream>

using namespace streamtensor::certificate;
using streamtensor::sha256Hex;

namespace {

class Check {
public:
  explicit Check(const std::string &directory) : directory(directory) {}
  std::string run();

private:
  void read();
  void compareParameters(const std::vector<Parameter> &other,
                         const std::string &place) const;
  /// `covers` says which FIFOs of the network `other` must have.
  template <typename Covers>
  void compareDepths(const Depths &other, const std::string &place,
                     Covers covers) const;
  void compareFiles() const;
  void coverValues();
  void executeAll();
  void checkFullDepths(const std::vector<int64_t> &tokens);
  bool deadlocksWithOneLess(unsigned fifo) const;
  std::string report() const;

  const std::string directory;
  std::string kernelHash, networkHash, kernelText;
  Certificate certificate;
  Interface interface;
  Network network;
  Cover cover;
  std::vector<std::string> unverified;
};

} // namespace

/// An entry that is in one map and not in the other.
static std::string missing(const Depths &in, const Depths &from) {
  for (const auto &[name, depth] : in)
    if (!from.count(name))
      return name;
  return "";
}

void Check::read() {
  const std::string kernelPath = directory + "/hls/kernel.cpp";
  const std::string networkPath = directory + "/network.pn.json";
  const std::string interfacePath = directory + "/interface.json";
  const std::string path = directory + "/certificate.json";
  certificate = readCertificate(parseJson(readFile(path), path), path);
  kernelText = readFile(kernelPath);
  kernelHash = sha256Hex(kernelText);
  if (kernelHash != certificate.kernelHash)
    throw Refusal(path + ": expected the hash of " + kernelPath + ", " +
                  kernelHash + ", but got " + certificate.kernelHash +
                  "; the certificate is of another kernel");
  const std::string networkText = readFile(networkPath);
  networkHash = sha256Hex(networkText);
  if (networkHash != certificate.networkHash)
    throw Refusal(path + ": expected the hash of " + networkPath + ", " +
                  networkHash + ", but got " + certificate.networkHash +
                  "; the certificate is of another network");
  network = readNetwork(parseJson(networkText, networkPath), networkPath);
  try {
    interface =
        readInterface(parseJson(readFile(interfacePath), interfacePath));
  } catch (const Refusal &refusal) {
    throw Refusal(interfacePath + ": " + refusal.what());
  }
}

void Check::compareParameters(const std::vector<Parameter> &other,
                              const std::string &place) const {
  auto ranges = [](const std::vector<Parameter> &list) {
    std::map<std::string, std::pair<int64_t, int64_t>> result;
    for (const Parameter &parameter : list)
      result[parameter.name] = {parameter.min, parameter.max};
    return result;
  };
  const auto one = ranges(certificate.parameters), two = ranges(other);
  if (one == two)
    return;
  auto text = [](const auto &map) {
    std::string result;
    for (const auto &[name, range] : map)
      result += (result.empty() ? "" : ", ") + name + " from " +
                std::to_string(range.first) + " to " +
                std::to_string(range.second);
    return result.empty() ? std::string("none") : result;
  };
  throw Refusal("certificate.parameters: expected those of " + place + ", " +
                text(two) + ", but got " + text(one));
}

template <typename Covers>
void Check::compareDepths(const Depths &other, const std::string &place,
                          Covers covers) const {
  Depths own;
  for (const Fifo &fifo : network.fifos)
    if (covers(fifo))
      own[fifo.name] = fifo.depth;
  if (const std::string name = missing(own, other); !name.empty())
    throw Refusal(place + ": expected all fifos of the network but '" + name +
                  "' is missing");
  if (const std::string name = missing(other, own); !name.empty())
    throw Refusal(place + ": expected fifos of the network but got '" + name +
                  "'");
  for (const auto &[name, depth] : own)
    if (other.at(name) != depth)
      throw Refusal(place + ": expected the depth of the network, " +
                    std::to_string(depth) + ", for fifo '" + name +
                    "' but got " + std::to_string(other.at(name)));
}

void Check::compareFiles() const {
  compareParameters(network.parameters, "network.pn.json");
  compareParameters(interface.parameters, "interface.json");
  if (interface.kernelHash != kernelHash)
    throw Refusal("interface.json: expected the hash of hls/kernel.cpp, " +
                  kernelHash + ", but got " + interface.kernelHash);
  const auto isAny = [](const Fifo &) { return true; };
  const auto isStream = [](const Fifo &fifo) { return !fifo.isControl; };
  const auto isCarried = [](const Fifo &fifo) { return fifo.isCarried; };
  compareDepths(certificate.depths, "certificate.depths", isAny);
  Depths kernel, carried;
  try {
    kernel = fifosOfKernel(kernelText, "ST_FIFO");
    carried = fifosOfKernel(kernelText, "ST_FEEDBACK");
  } catch (const Refusal &refusal) {
    throw Refusal(directory + "/hls/kernel.cpp: " + refusal.what());
  }
  compareDepths(carried, "hls/kernel.cpp, ST_FEEDBACK", isCarried);
  kernel.insert(carried.begin(), carried.end());
  compareDepths(kernel, "hls/kernel.cpp", isStream);
  compareDepths(interface.depths, "interface.fifos", isStream);
}

void Check::coverValues() {
  std::vector<Values> points = certificate.basePoints;
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  applySegments(certificate.segments, network);
  cover = coverOf(network, points);
  if (auto values = findUncovered(network.parameters, cover.boxes))
    throw Refusal("certificate.witness: expected base points that prove all "
                  "values, but " +
                  spell(*values) + " is not proven" +
                  (cover.reason.empty() ? "" : "; " + cover.reason));
  certificate.basePoints = std::move(points);
}

void Check::executeAll() {
  const Values maxima = network.maxima();
  std::vector<int64_t> tokens;
  for (const Values &values : certificate.basePoints)
    for (Order order : {Order::Program, Order::Pipelined}) {
      const Outcome outcome =
          execute(network, values, order, certificate.invocations);
      if (outcome.failure)
        throw Refusal("at " + spell(values) + ", order " + spell(order) + ": " +
                      *outcome.failure);
      if (values == maxima && order == Order::Pipelined)
        tokens = outcome.tokens;
    }
  if (tokens.size() != network.fifos.size())
    throw Refusal("certificate.witness: expected a base point at the largest "
                  "values");
  checkFullDepths(tokens);
}

bool Check::deadlocksWithOneLess(unsigned fifo) const {
  Network changed = network;
  --changed.fifos[fifo].depth;
  if (changed.fifos[fifo].depth <
      initialTokensOf(network, fifo, network.maxima()))
    return true;
  for (const Values &values : certificate.basePoints)
    for (Order order : {Order::Program, Order::Pipelined})
      if (execute(changed, values, order, certificate.invocations).failure)
        return true;
  return false;
}

/// A FIFO that holds all its tokens is an array in disguise.
void Check::checkFullDepths(const std::vector<int64_t> &tokens) {
  std::map<std::string, bool> stated = certificate.fullDepths;
  for (unsigned index = 0; index < network.fifos.size(); ++index) {
    const Fifo &fifo = network.fifos[index];
    const auto entry = stated.find(fifo.name);
    const bool isFull =
        !fifo.isControl && fifo.depth > 2 && fifo.depth >= tokens[index];
    if (!isFull) {
      if (entry != stated.end())
        throw Refusal("certificate.full_depths: expected fifos as deep as all "
                      "their tokens but got '" +
                      fifo.name + "' of depth " + std::to_string(fifo.depth) +
                      " with " + std::to_string(tokens[index]) + " tokens");
      continue;
    }
    if (entry == stated.end())
      throw Refusal("fifo '" + fifo.name + "': expected an entry in " +
                    "full_depths, because its depth, " +
                    std::to_string(fifo.depth) + ", holds all of its " +
                    std::to_string(tokens[index]) + " tokens");
    if (!entry->second)
      unverified.push_back("that fifo '" + fifo.name +
                           "' delays with one token less");
    else if (!deadlocksWithOneLess(index))
      throw Refusal("certificate.full_depths: expected a deadlock with depth " +
                    std::to_string(fifo.depth - 1) + " of fifo '" + fifo.name +
                    "' but got none");
    stated.erase(entry);
  }
  if (!stated.empty())
    throw Refusal("certificate.full_depths: expected the name of a fifo but "
                  "got '" +
                  stated.begin()->first.substr(0, 80) + "'");
}

std::string Check::report() const {
  std::string text =
      "verified: no deadlock with " + std::to_string(network.fifos.size()) +
      " fifos at " + spell(Box{network.minima(), network.maxima()}) +
      ", in program and in pipelined order, " +
      std::to_string(certificate.invocations) + " invocations; " +
      std::to_string(certificate.basePoints.size()) +
      (certificate.basePoints.size() == 1 ? " base point" : " base points") +
      " executed";
  if (certificate.numSlowdowns > 0)
    text += "; stated and not verified: the slow-down at " +
            std::to_string(certificate.numSlowdowns) + " lengths (simulated)";
  for (const std::string &fact : unverified)
    text += "; stated and not verified: " + fact;
  return text;
}

std::string Check::run() {
  read();
  compareFiles();
  coverValues();
  executeAll();
  return report();
}

std::string
streamtensor::certificate::checkCertificate(const std::string &directory) {
  return Check(directory).run();
}

void streamtensor::certificate::checkMany(std::istream &input,
                                          std::ostream &output) {
  size_t refused = 0, all = 0;
  for (std::string line; std::getline(input, line); ++all) {
    output << line << ": ";
    try {
      output << checkCertificate(line) << "\n";
    } catch (const Refusal &refusal) {
      output << "refused: " << refusal.what() << "\n";
      ++refused;
    }
  }
  if (refused > 0)
    throw Refusal(std::to_string(refused) + " of " + std::to_string(all) +
                  " certificates refused");
}
