//===- NaiveMemory.h - Memory ports, one cycle at a time --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// "Memory" of docs/process-networks.md as it stands there: a channel works for
// 1024 parts of each cycle, a port has a queue of bursts in each direction.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_SIM_NAIVEMEMORY_H
#define STREAMTENSOR_UNITTESTS_SIM_NAIVEMEMORY_H

#include "streamtensor/Network/TimedNetwork.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>

namespace streamtensor::test {

class NaiveMemory {
public:
  explicit NaiveMemory(const TimedNetwork &network) : network(network) {
    channels.resize(network.memory.channels.size());
    queues.resize(2 * network.memory.ports.size());
  }

  /// The sizes of the bursts of one process and invocation.
  void addClient(unsigned process, unsigned port, bool isWrite, int64_t beats,
                 int64_t contiguous) {
    Client client;
    client.process = process;
    const int64_t most = network.memory.ports[port].burstBeats;
    int64_t leftOfRun = contiguous > 0 ? contiguous : beats;
    for (int64_t left = beats; left > 0;) {
      const int64_t size = std::min({left, leftOfRun, most});
      client.sizes.push_back(size);
      left -= size;
      leftOfRun -= size;
      if (leftOfRun == 0)
        leftOfRun = contiguous;
    }
    queues[2 * port + isWrite].clients.push_back(std::move(client));
  }

  void startProcess(unsigned process, int64_t cycle) {
    for (Queue &queue : queues)
      for (Client &client : queue.clients)
        if (client.process == process) {
          client.next = 0;
          client.wantsFrom = cycle;
        }
  }

  /// What happens in a cycle before the processes. Returns whether something
  /// did.
  bool beginCycle(int64_t cycle) {
    bool changed = false;
    for (size_t i = 0; i < queues.size(); ++i) {
      Queue &queue = queues[i];
      queue.hasPassed = false;
      const TimedPort &port = network.memory.ports[i / 2];
      Channel &channel = channels[port.channel];
      while (!queue.bursts.empty() && queue.bursts.front().leftAt >= 0 &&
             queue.bursts.front().leftAt < cycle - 1)
        queue.bursts.pop_front();
      // A write that was full in the cycle before.
      for (Burst &burst : queue.bursts)
        if (i % 2 && burst.passed == burst.size && burst.fullAt == cycle - 1)
          channel.waiting.push_back(makeJob(burst, port));
      int64_t places = port.outstanding;
      for (const Burst &burst : queue.bursts)
        places -= burst.leftAt < 0 || burst.leftAt >= cycle;
      Client *first = nullptr;
      for (Client &client : queue.clients)
        if (client.next < client.sizes.size() && client.wantsFrom >= 0 &&
            client.wantsFrom <= cycle &&
            (!first || client.wantsFrom < first->wantsFrom))
          first = &client;
      if (places <= 0 || !first)
        continue;
      changed = true;
      Burst &burst = queue.bursts.emplace_back();
      burst.client = first;
      burst.size = first->sizes[first->next++];
      first->wantsFrom = i % 2 ? -1 : cycle + 1;
      bytes += burst.size * port.beatBytes;
      if (i % 2 == 0)
        channel.waiting.push_back(makeJob(burst, port));
    }
    for (size_t i = 0; i < channels.size(); ++i)
      changed |= work(channels[i], cycle, network.memory.channels[i].latency);
    return changed;
  }

  /// Whether a beat can pass for this process now.
  bool canPass(unsigned process, unsigned port, bool isWrite,
               int64_t cycle) const {
    const Queue &queue = queues[2 * port + isWrite];
    if (queue.hasPassed)
      return false;
    for (const Burst &burst : queue.bursts) {
      if (burst.passed == burst.size)
        continue;
      return burst.client->process == process &&
             (isWrite || (int64_t(burst.arrivals.size()) > burst.passed &&
                          burst.arrivals[burst.passed] <= cycle));
    }
    return false;
  }

  void pass(unsigned port, bool isWrite, int64_t cycle) {
    Queue &queue = queues[2 * port + isWrite];
    queue.hasPassed = true;
    for (Burst &burst : queue.bursts) {
      if (burst.passed == burst.size)
        continue;
      if (++burst.passed == burst.size) {
        burst.fullAt = cycle;
        if (isWrite)
          burst.client->wantsFrom = cycle + 1;
        else
          burst.leftAt = cycle;
      }
      return;
    }
  }

  /// Whether all writes of a process are acknowledged.
  bool isDrained(unsigned process, int64_t cycle) const {
    for (size_t i = 1; i < queues.size(); i += 2)
      for (const Burst &burst : queues[i].bursts)
        if (burst.client->process == process &&
            (burst.leftAt < 0 || burst.leftAt > cycle))
          return false;
    return true;
  }

  /// The process whose beats pass next (-1: none), and the bursts in a queue,
  /// when nothing happens any more.
  std::pair<int, int64_t> head(unsigned queue) const {
    std::pair<int, int64_t> result(-1, 0);
    for (const Burst &burst : queues[queue].bursts) {
      if (result.first < 0 && burst.passed < burst.size)
        result.first = int(burst.client->process);
      result.second += burst.leftAt < 0;
    }
    return result;
  }

  int64_t bytes = 0;

private:
  struct Client {
    unsigned process = 0;
    std::vector<int64_t> sizes;
    size_t next = 0;
    /// -1: not known.
    int64_t wantsFrom = -1;
  };
  struct Burst {
    Client *client = nullptr;
    int64_t size = 0, passed = 0, fullAt = -1, leftAt = -1;
    std::vector<int64_t> arrivals;
  };
  struct Queue {
    std::deque<Client> clients;
    std::deque<Burst> bursts;
    bool hasPassed = false;
  };
  struct Job {
    Burst *burst;
    int64_t length, done = 0;
  };
  struct Channel {
    std::deque<Job> waiting;
  };

  Job makeJob(Burst &burst, const TimedPort &port) const {
    const double rate = network.memory.channels[port.channel].bytesPerCycle;
    const int64_t length =
        std::llround(double(burst.size * port.beatBytes) * 1024 / rate);
    return {&burst, std::max<int64_t>(1, length)};
  }

  bool work(Channel &channel, int64_t cycle, int64_t latency) {
    bool changed = false;
    for (int64_t parts = 1024; parts > 0 && !channel.waiting.empty();) {
      Job &job = channel.waiting.front();
      Burst &burst = *job.burst;
      const int64_t now = std::min(parts, job.length - job.done);
      parts -= now;
      job.done += now;
      changed = true;
      // Beats that are whole by now are there in the next cycle.
      while (
          int64_t(burst.arrivals.size()) < burst.size &&
          std::llround(double(job.length) * double(burst.arrivals.size() + 1) /
                       double(burst.size)) <= job.done)
        burst.arrivals.push_back(cycle + 1 + latency);
      if (job.done < job.length)
        continue;
      if (burst.fullAt >= 0 && burst.leftAt < 0)
        burst.leftAt = cycle + 1 + latency;
      channel.waiting.pop_front();
    }
    return changed;
  }

  const TimedNetwork &network;
  std::vector<Channel> channels;
  std::vector<Queue> queues;
};

} // namespace streamtensor::test

#endif // STREAMTENSOR_UNITTESTS_SIM_NAIVEMEMORY_H
