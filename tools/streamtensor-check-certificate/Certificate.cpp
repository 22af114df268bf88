//===- Certificate.cpp - What a certificate claims ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading certificate.json. A key that the checker does not know could be a
// claim that it does not check, so it is refused.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Certificate.h"

#include <algorithm>
#include <cmath>

using namespace streamtensor::certificate;

namespace {

class CertificateReader {
public:
  explicit CertificateReader(const Json &document)
      : file(document, "certificate") {}
  Certificate read();

private:
  std::string readHash(const char *key);
  Values readValues(const Json &value, const std::string &place) const;
  void readWitness();
  void readFullDepths();
  void readSlowdowns();

  Object file;
  Certificate certificate;
};

} // namespace

std::string CertificateReader::readHash(const char *key) {
  const std::string hash = file.name(key);
  if (hash.size() != 64 ||
      hash.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw Refusal(file.at(key) + ": expected 64 lower-case hex digits");
  return hash;
}

/// A value of each parameter, within its range.
Values CertificateReader::readValues(const Json &value,
                                     const std::string &place) const {
  Object item(value, place);
  Values values;
  for (const Parameter &parameter : certificate.parameters)
    values[parameter.name] =
        item.integer(parameter.name.c_str(), parameter.min, parameter.max);
  item.finish();
  return values;
}

void CertificateReader::readWitness() {
  constexpr size_t kMostPoints = 1 << 16;
  Object witness(file.get("witness"), "certificate.witness");
  const std::string points = witness.at("base_points");
  for (const Json &value : witness.array("base_points")) {
    if (certificate.basePoints.size() == kMostPoints)
      throw Refusal(points + ": expected at most 65536 base points");
    certificate.basePoints.push_back(readValues(
        value,
        points + "[" + std::to_string(certificate.basePoints.size()) + "]"));
  }
  if (certificate.basePoints.empty())
    throw Refusal(points + ": expected at least one base point");
  for (const Json &value : witness.arrayOr("segments")) {
    Object item(value, witness.at("segments") + "[" +
                           std::to_string(certificate.segments.size()) + "]");
    Segments segments;
    segments.process = item.name("process");
    segments.loop = item.integer("loop", 0);
    segments.parts = item.array("parts");
    item.finish();
    certificate.segments.push_back(std::move(segments));
  }
  witness.finish();
}

void CertificateReader::readFullDepths() {
  const Json *found = file.find("full_depths");
  if (!found)
    return;
  if (!found->is_object())
    throw Refusal("certificate.full_depths: expected an object but got " +
                  spell(*found));
  for (const auto &[name, value] : found->items()) {
    if (value != "deadlock" && value != "delay")
      throw Refusal("certificate.full_depths." + name.substr(0, 80) +
                    ": expected 'deadlock' or 'delay' but got " + spell(value));
    certificate.fullDepths[name] = value == "deadlock";
  }
}

/// Simulated figures cannot be verified without time; that they agree with each
/// other can.
void CertificateReader::readSlowdowns() {
  for (const Json &value : file.arrayOr("slowdown")) {
    const std::string place = "certificate.slowdown[" +
                              std::to_string(certificate.numSlowdowns++) + "]";
    Object item(value, place);
    readValues(item.get("values"), place + ".values");
    const int64_t cycles = item.integer("cycles", 0);
    const int64_t unbounded = item.integer("cycles_unbounded", 0);
    const Json &ratio = item.get("ratio");
    if (item.name("label") != "simulated")
      throw Refusal(place + ".label: expected 'simulated'");
    item.finish();
    if (!ratio.is_number() || std::abs(ratio.get<double>() * double(unbounded) -
                                       double(cycles)) > 1e-3 * double(cycles))
      throw Refusal(place +
                    ".ratio: expected cycles / cycles_unbounded but "
                    "got " +
                    spell(ratio));
  }
}

Certificate CertificateReader::read() {
  file.integer("schema", 1, 1);
  file.ignore({"design", "tool"});
  certificate.kernelHash = readHash("kernel_sha256");
  certificate.networkHash = readHash("network_sha256");
  certificate.parameters =
      readParameters(file.get("parameters"), "certificate.parameters");
  Object depths(file.get("depths"), "certificate.depths");
  for (const auto &[name, value] : file.get("depths").items())
    certificate.depths[name] =
        integerOf(value, "certificate.depths." + name.substr(0, 80), 1);
  certificate.invocations = file.integer("invocations", 3, 16);
  if (file.get("deadlock_free") != true)
    throw Refusal("certificate.deadlock_free: expected true but got " +
                  spell(file.get("deadlock_free")));
  if (file.get("orders") != Json({"program", "pipelined"}))
    throw Refusal("certificate.orders: expected program and pipelined but "
                  "got " +
                  spell(file.get("orders")));
  readWitness();
  readFullDepths();
  readSlowdowns();
  file.finish();
  return std::move(certificate);
}

Certificate
streamtensor::certificate::readCertificate(const Json &document,
                                           const std::string &path) {
  try {
    return CertificateReader(document).read();
  } catch (const Refusal &refusal) {
    throw Refusal(path + ": " + refusal.what());
  }
}

void streamtensor::certificate::applySegments(
    const std::vector<Segments> &segments, Network &network) {
  const std::set<std::string> parameters = network.parameterNames();
  std::set<const Loop *> known;
  size_t index = 0;
  for (const Segments &entry : segments) {
    const std::string place =
        "certificate.witness.segments[" + std::to_string(index++) + "]";
    Process &process =
        network.processes[network.findProcess(entry.process, place)];
    const std::vector<Loop *> loops = loopsOf(process.program);
    if (entry.loop >= int64_t(loops.size()))
      throw Refusal(place + ": expected one of the " +
                    std::to_string(loops.size()) + " loops of process '" +
                    process.name + "' but got " + std::to_string(entry.loop));
    Loop &loop = *loops[entry.loop];
    if (!known.insert(&loop).second)
      throw Refusal(place + ": expected a loop once");
    loop.parts.clear();
    for (const Json &value : entry.parts) {
      Part part;
      if (value.is_object()) {
        Object item(value, place + ".parts");
        part.count = Expression::read(item.get("keep_last"), place + ".parts",
                                      parameters);
        part.keepsLast = true;
        item.finish();
      } else {
        part.count = Expression::read(value, place + ".parts", parameters);
      }
      loop.parts.push_back(std::move(part));
    }
    if (loop.parts.empty() || loop.parts.size() > 64)
      throw Refusal(place + ".parts: expected 1 to 64 parts");
  }
}
