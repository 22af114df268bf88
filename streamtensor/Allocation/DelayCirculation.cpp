//===- DelayCirculation.cpp - The built-in solver of delay programs -------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cheapest circulation. Each arc a of the program, from i to j, gives
//
//   a need   i -> j  of any amount, each unit of cost -least(a), and
//   a price  j -> i  of at most price(a), each unit of cost free(a).
//
// Start times s are the potentials. An edge u -> v of cost c has the reduced
// cost c - s[u] + s[v]: of a need, the delay beyond the least one; of a price,
// minus the delay beyond the free one. The earliest start times keep all needs
// at 0 or more, and prices below 0 are filled. What this puts out of balance is
// sent along shortest paths, and s follows the distances, so that no edge that
// has room ever gets a negative reduced cost. In the end everything is in
// balance, and the amounts are a certificate for s.
//
// Each search sends as much as the edges of reduced cost 0 take, so there are
// few of them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DelayProgram.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

using namespace streamtensor;

namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

struct FlowEdge {
  unsigned to;
  int64_t cost;
  int64_t room; ///< what can still be sent; kUnlimited is never used up
};

class Circulation {
public:
  explicit Circulation(const DelayProgram &program);
  DelayCertificate solve();

private:
  void addEdge(unsigned from, unsigned to, int64_t cost, int64_t room);
  void send(unsigned edge, int64_t amount);
  int64_t reducedCost(unsigned from, const FlowEdge &edge) const {
    return edge.cost - starts[from] + starts[edge.to];
  }
  bool findDistances();
  int64_t sendFrom(unsigned node, int64_t amount);

  const DelayProgram &program;
  /// Edge 2k and its reverse 2k + 1.
  std::vector<FlowEdge> edges;
  std::vector<std::vector<unsigned>> leaving;
  std::vector<int64_t> starts, excess, distances;
  std::vector<unsigned> nextEdge;
  std::vector<bool> onPath;
};

} // namespace

void Circulation::addEdge(unsigned from, unsigned to, int64_t cost,
                          int64_t room) {
  leaving[from].push_back(edges.size());
  edges.push_back({to, cost, room});
  leaving[to].push_back(edges.size());
  edges.push_back({from, -cost, 0});
}

void Circulation::send(unsigned edge, int64_t amount) {
  FlowEdge &forth = edges[edge], &back = edges[edge ^ 1];
  if (forth.room != kUnlimited)
    forth.room -= amount;
  if (back.room != kUnlimited)
    back.room += amount;
  excess[back.to] -= amount;
  excess[forth.to] += amount;
}

Circulation::Circulation(const DelayProgram &program)
    : program(program), leaving(program.numNodes),
      starts(earliestStarts(program)), excess(program.numNodes, 0) {
  for (const DelayArc &arc : program.arcs) {
    addEdge(arc.from, arc.to, -arc.least.value_or(0),
            arc.least ? kUnlimited : 0);
    addEdge(arc.to, arc.from, arc.free, arc.price);
    const unsigned price = edges.size() - 2;
    if (reducedCost(arc.to, edges[price]) < 0)
      send(price, arc.price);
  }
}

/// From all nodes that have too much (E. W. Dijkstra). Returns whether there
/// are any.
bool Circulation::findDistances() {
  using Entry = std::pair<int64_t, unsigned>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distances.assign(program.numNodes, kUnlimited);
  for (unsigned node = 0; node < program.numNodes; ++node)
    if (excess[node] > 0) {
      distances[node] = 0;
      queue.push({0, node});
    }
  if (queue.empty())
    return false;
  int64_t farthest = 0;
  while (!queue.empty()) {
    const auto [distance, node] = queue.top();
    queue.pop();
    if (distance != distances[node])
      continue;
    farthest = distance;
    for (unsigned index : leaving[node]) {
      const FlowEdge &edge = edges[index];
      if (edge.room == 0)
        continue;
      const int64_t reached = distance + reducedCost(node, edge);
      if (reached < distances[edge.to]) {
        distances[edge.to] = reached;
        queue.push({reached, edge.to});
      }
    }
  }
  // What cannot be reached moves as far as the farthest: all edges into it
  // from reached nodes are full, and the others only gain.
  for (int64_t &distance : distances)
    distance = std::min(distance, farthest);
  return true;
}

/// Sends up to `amount` from a node along edges of reduced cost 0 to nodes that
/// have too little; returns how much got there.
int64_t Circulation::sendFrom(unsigned node, int64_t amount) {
  if (excess[node] < 0)
    return std::min(amount, -excess[node]);
  onPath[node] = true;
  int64_t sent = 0;
  for (unsigned &next = nextEdge[node]; next < leaving[node].size(); ++next) {
    const unsigned index = leaving[node][next];
    if (edges[index].room == 0 || onPath[edges[index].to] ||
        reducedCost(node, edges[index]) != 0)
      continue;
    const int64_t part =
        sendFrom(edges[index].to, std::min(amount - sent, edges[index].room));
    if (part > 0)
      send(index, part);
    sent += part;
    // The edge may take more from the next one that comes here.
    if (sent == amount)
      break;
  }
  onPath[node] = false;
  return sent;
}

DelayCertificate Circulation::solve() {
  while (findDistances()) {
    for (unsigned node = 0; node < program.numNodes; ++node)
      starts[node] -= distances[node];
    // An edge that a search leaves behind can be of use again when another
    // path opens, so searches go on until none finds anything.
    bool progress = true;
    while (progress) {
      progress = false;
      nextEdge.assign(program.numNodes, 0);
      onPath.assign(program.numNodes, false);
      for (unsigned node = 0; node < program.numNodes; ++node)
        if (excess[node] > 0 && sendFrom(node, excess[node]) > 0)
          progress = true;
    }
  }
  DelayCertificate certificate;
  for (size_t i = 0; i < program.arcs.size(); ++i) {
    // What was sent is the room of the reverse edge.
    certificate.needs.push_back(edges[4 * i + 1].room);
    certificate.paid.push_back(edges[4 * i + 3].room);
  }
  return certificate;
}

DelayCertificate streamtensor::solveByCirculation(const DelayProgram &program) {
  return Circulation(program).solve();
}
