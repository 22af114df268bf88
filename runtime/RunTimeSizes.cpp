//===- RunTimeSizes.cpp - Parameters from the shapes of tensors -----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves one size after the other until nothing new is known.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunTimeSizes.h"

#include "streamtensor/Support/SolveParameters.h"

#include <set>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

/// "[1, seq, 64]"
std::string listOf(const std::vector<std::string> &items) {
  std::string text;
  for (const std::string &item : items)
    text += (text.empty() ? "" : ", ") + item;
  return "[" + text + "]";
}

std::string sizesString(const std::vector<int64_t> &shape) {
  std::vector<std::string> sizes;
  for (int64_t size : shape)
    sizes.push_back(std::to_string(size));
  return listOf(sizes);
}

std::string sizesString(const ArgumentInfo &argument) {
  std::vector<std::string> sizes;
  for (const TripCount &size : argument.sizes)
    sizes.push_back(size.str());
  return listOf(sizes);
}

/// What a tensor is, in the style in which the argument is described.
std::string describeTensor(const ArgumentInfo &argument,
                           const TensorView &tensor) {
  return (argument.sizes.empty() ? shapeString(tensor.shape)
                                 : sizesString(tensor.shape)) +
         " " + dtypeName(tensor.dtype);
}

/// Where the value of a parameter comes from.
struct Evidence {
  const ArgumentInfo *argument;
  int64_t value;
};

class ParameterFinder {
public:
  ParameterFinder(const DesignInterface &design, const TensorMap &tensors,
                  std::vector<std::string> &problems)
      : design(design), problems(problems) {
    for (const ParameterInfo &parameter : design.parameters) {
      minima[parameter.name] = parameter.min;
      maxima[parameter.name] = parameter.max;
      if (parameter.min == parameter.max)
        values[parameter.name] = parameter.min;
    }
    for (const ArgumentInfo &argument : design.arguments) {
      if (!argument.isRunTimeInput())
        continue;
      auto tensor = tensors.find(argument.name);
      if (tensor != tensors.end())
        check(argument, tensor->second);
      else
        problems.push_back("missing '" + argument.name + "': expected " +
                           describeArgument(design, argument));
    }
  }

  ParameterValues run() {
    while (collectEvidence())
      ;
    reportDisagreement();
    for (const auto &[argument, tensor] : fitting)
      checkShape(*argument, *tensor);
    // A tensor that does not fit might have told it.
    for (const ParameterInfo &parameter : design.parameters)
      if (!values.count(parameter.name) && problems.empty())
        problems.push_back("expected the size of an input to tell '" +
                           parameter.name + "' but none does");
    return values;
  }

private:
  /// The parameters in `size` without a value.
  std::vector<std::string> unknownIn(const TripCount &size) const {
    ParameterValues names;
    size.collectParameters(names);
    std::vector<std::string> unknown;
    for (const auto &[name, ignored] : names)
      if (!values.count(name))
        unknown.push_back(name);
    return unknown;
  }

  /// The value of `name`, the only unknown, at which `size` is `actual`.
  std::optional<int64_t> solve(const TripCount &size, const std::string &name,
                               int64_t actual) const {
    const std::optional<int64_t> found = solveFor(name, size, actual, values);
    if (!found)
      return std::nullopt;
    ParameterValues at = values;
    at[name] = *found;
    return size.evaluate(at) == actual ? found : std::nullopt;
  }

  /// What can be said of one tensor alone.
  void check(const ArgumentInfo &argument, const TensorView &tensor) {
    bool fits = tensor.dtype == argument.dtype &&
                tensor.shape.size() == argument.shape.size();
    if (argument.sizes.empty())
      fits = fits && tensor.shape == argument.shape;
    for (size_t i = 0; fits && i < argument.sizes.size(); ++i) {
      const TripCount &size = argument.sizes[i];
      fits = tensor.shape[i] >= size.lowest(maxima, minima) &&
             tensor.shape[i] <= size.highest(maxima, minima);
      const std::vector<std::string> names = unknownIn(size);
      if (fits && names.size() == 1 && size.period() == 1)
        fits = solve(size, names.front(), tensor.shape[i]).has_value();
    }
    if (fits)
      fitting.emplace_back(&argument, &tensor);
    else
      problems.push_back("'" + argument.name + "': expected " +
                         describeArgument(design, argument) + " but got " +
                         describeTensor(argument, tensor));
  }

  /// Solves every size with one unknown; false when nothing became known.
  bool collectEvidence() {
    std::map<std::string, std::vector<Evidence>> found;
    for (const auto &[argument, tensor] : fitting)
      for (size_t i = 0; i < argument->sizes.size(); ++i) {
        const std::vector<std::string> unknown = unknownIn(argument->sizes[i]);
        if (unknown.size() != 1)
          continue;
        if (std::optional<int64_t> value =
                solve(argument->sizes[i], unknown.front(), tensor->shape[i]))
          found[unknown.front()].push_back({argument, *value});
      }
    for (const auto &[name, all] : found) {
      values[name] = all.front().value;
      evidence[name] = all;
    }
    return !found.empty();
  }

  void reportDisagreement() {
    for (const auto &[name, all] : evidence) {
      std::string text;
      std::set<int64_t> different;
      for (const Evidence &one : all)
        if (different.insert(one.value).second)
          text += (text.empty() ? "" : " but ") + std::to_string(one.value) +
                  " in '" + one.argument->name + "' " +
                  sizesString(*one.argument);
      if (different.size() > 1) {
        problems.push_back("'" + name + "' is " + text);
        disputed.insert(name);
      }
    }
  }

  /// Compares the shape, now that values are known.
  void checkShape(const ArgumentInfo &argument, const TensorView &tensor) {
    ParameterValues names;
    for (const TripCount &size : argument.sizes)
      size.collectParameters(names);
    std::string at;
    for (const auto &[name, ignored] : names) {
      if (!values.count(name) || disputed.count(name))
        return;
      at += (at.empty() ? "" : ", ") + name + " = " +
            std::to_string(values.at(name));
    }
    const ArgumentInfo actual = argument.at(values);
    if (tensor.shape != actual.shape)
      problems.push_back("'" + argument.name + "': expected " +
                         sizesString(argument) + ", which is " +
                         sizesString(actual.shape) + " with " + at +
                         ", but got " + sizesString(tensor.shape));
    for (const auto &[name, ignored] : names)
      if (values.at(name) < minima.at(name) ||
          values.at(name) > maxima.at(name))
        problems.push_back("'" + argument.name + "': expected " +
                           describeArgument(design, argument) + " but got " +
                           describeTensor(argument, tensor) + ", so that " +
                           at);
  }

  const DesignInterface &design;
  std::vector<std::string> &problems;
  ParameterValues minima, maxima, values;
  /// Tensors that fit their arguments as far as each can tell alone.
  std::vector<std::pair<const ArgumentInfo *, const TensorView *>> fitting;
  std::map<std::string, std::vector<Evidence>> evidence;
  std::set<std::string> disputed;
};

} // namespace

std::string runtime::describeArgument(const DesignInterface &design,
                                      const ArgumentInfo &argument) {
  const std::string type = std::string(" ") + dtypeName(argument.dtype);
  if (argument.sizes.empty())
    return shapeString(argument.shape) + type;
  ParameterValues names;
  for (const TripCount &size : argument.sizes)
    size.collectParameters(names);
  std::string ranges;
  for (const ParameterInfo &parameter : design.parameters)
    if (names.count(parameter.name))
      ranges += (ranges.empty() ? " with " : " and ") + parameter.name +
                " from " + std::to_string(parameter.min) + " to " +
                std::to_string(parameter.max);
  return sizesString(argument) + type + ranges;
}

ParameterValues runtime::findParameters(const DesignInterface &design,
                                        const TensorMap &tensors,
                                        std::vector<std::string> &problems) {
  return ParameterFinder(design, tensors, problems).run();
}
