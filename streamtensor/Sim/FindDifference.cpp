//===- FindDifference.cpp - The task to blame -----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the recorded tokens of a run with what they should be.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/ValidatePhases.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace mlir;
using namespace streamtensor;

namespace {

/// All tokens of a record are there.
bool isComplete(const TokenRecord &record) {
  return record.numRecorded() == record.tokens;
}

/// The tensor that a completely recorded FIFO of known order carried.
std::optional<HostTensor> assemble(const TokenRecord &record) {
  if (!record.order || !isComplete(record) ||
      record.tokens != record.order->numTokens())
    return std::nullopt;
  HostTensor tensor(record.order->dataExtents(), record.element);
  unpackTokens(record.data.data(), *record.order, tensor);
  return tensor;
}

/// `tensor` as the tokens of `record` should carry it. A reshape changes
/// neither the elements nor their row-major order.
std::optional<std::vector<char>> streamAs(const TokenRecord &record,
                                          const HostTensor &tensor) {
  if (!record.order || record.element != tensor.kind ||
      HostTensor(record.order->dataExtents(), tensor.kind).numElements() !=
          tensor.numElements())
    return std::nullopt;
  return packTokens(tensor, *record.order);
}

class Finder {
public:
  Finder(const Recording &actual, const Recording &previous,
         ArrayRef<HostTensor> inputs, double tolerance)
      : actual(actual), previous(previous), inputs(inputs),
        tolerance(tolerance) {}

  std::optional<ValueDifference> run() {
    for (const TokenRecord &record : actual.fifos)
      if (std::optional<std::vector<char>> expected = expectedTokens(record))
        if (std::optional<ValueDifference> difference =
                compare(record, *expected))
          wrong[record.fifo] = *difference;
    // Wrong input explains wrong output.
    for (const TokenRecord &record : actual.fifos) {
      auto it = wrong.find(record.fifo);
      if (it == wrong.end())
        continue;
      if (llvm::none_of(record.inputs, [&](const std::string &input) {
            return wrong.contains(input);
          }))
        return it->second;
    }
    return std::nullopt;
  }

private:
  /// What `record` should hold (at least a prefix), if it can be known.
  std::optional<std::vector<char>> expectedTokens(const TokenRecord &record) {
    if (const TokenRecord *same = previous.findFifo(record.fifo))
      if (auto tokens = fromSameFifo(record, *same))
        return tokens;
    if (const OperationRecord *operation = previous.findOperation(record.task))
      return streamAs(record, operation->value);
    if (record.kind == "dma_in")
      return fromMemory(record);
    if ((record.kind == "converter" || record.kind == "fork") &&
        record.inputs.size() == 1)
      return fromSource(record);
    return std::nullopt;
  }

  std::optional<std::vector<char>> fromSameFifo(const TokenRecord &record,
                                                const TokenRecord &same) {
    if (record.element != same.element)
      return std::nullopt;
    const bool sameTokens = record.tokenElements == same.tokenElements &&
                            record.tokens == same.tokens;
    if (!record.order || !same.order)
      return sameTokens ? std::optional(same.data) : std::nullopt;
    if (sameTokens && sameSequence(*record.order, *same.order))
      return same.data;
    if (std::optional<HostTensor> tensor = assemble(same))
      return streamAs(record, *tensor);
    return std::nullopt;
  }

  /// What a load should find in its argument or workspace.
  std::optional<std::vector<char>> fromMemory(const TokenRecord &record) {
    unsigned index;
    StringRef name = record.argument;
    if (name.consume_front("arg") && !name.getAsInteger(10, index) &&
        index < inputs.size())
      return streamAs(record, inputs[index]);
    for (const StoreRecord &store : actual.stores) {
      if (store.argument != record.argument || record.argument.empty())
        continue;
      const TokenRecord *stored = actual.findFifo(store.fifo);
      std::optional<HostTensor> tensor;
      if (stored)
        tensor = assemble(*stored);
      return tensor ? streamAs(record, *tensor) : std::nullopt;
    }
    return std::nullopt;
  }

  /// What a task that only moves data should have made of its input.
  std::optional<std::vector<char>> fromSource(const TokenRecord &record) {
    const TokenRecord *source = actual.findFifo(record.inputs.front());
    if (!source || source->element != record.element)
      return std::nullopt;
    if (record.order && source->order &&
        elementOrderEqual(*record.order, *source->order))
      return source->data;
    std::optional<HostTensor> tensor = assemble(*source);
    if (tensor && record.order &&
        record.order->dataExtents() == source->order->dataExtents())
      return packTokens(*tensor, *record.order);
    // Reassociated: the elements pass in one order.
    if (tensor && record.kind == "converter" &&
        record.data.size() == source->data.size())
      return source->data;
    return std::nullopt;
  }

  std::optional<ValueDifference> compare(const TokenRecord &record,
                                         const std::vector<char> &expected) {
    const size_t bytes = getElementBytes(record.element);
    const auto count = static_cast<int64_t>(
        std::min(record.data.size(), expected.size()) / bytes);
    HostTensor a({count}, record.element), e({count}, record.element);
    a.data.assign(record.data.begin(), record.data.begin() + count * bytes);
    e.data.assign(expected.begin(), expected.begin() + count * bytes);
    std::optional<ValueDifference> difference = compareTensors(a, e, tolerance);
    if (!difference)
      return std::nullopt;
    difference->task = record.task;
    difference->fifo = record.fifo;
    difference->token = difference->element / record.tokenElements;
    difference->element %= record.tokenElements;
    return difference;
  }

  const Recording &actual, &previous;
  ArrayRef<HostTensor> inputs;
  double tolerance;
  llvm::StringMap<ValueDifference> wrong;
};

} // namespace

std::optional<ValueDifference> streamtensor::findFirstDifference(
    const Recording &actual, const Recording &previous,
    ArrayRef<HostTensor> inputs, double tolerance) {
  return Finder(actual, previous, inputs, tolerance).run();
}
