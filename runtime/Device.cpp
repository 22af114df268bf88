//===- Device.cpp - Something that runs designs ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks that every device makes.
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"

#include "runtime/Error.h"

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

constexpr uint64_t kAlignment = 64;

} // namespace

Buffer::~Buffer() = default;
Design::~Design() = default;
Device::~Device() = default;

RunStatistics Device::run(Design &design,
                          const std::vector<BufferView> &arguments,
                          const ParameterValues &parameters,
                          const std::vector<std::string> &recorded) {
  checkArguments(design.interface(), arguments);
  checkParameters(design.interface(), parameters);
  return launch(design, arguments, parameters, recorded);
}

void runtime::checkRange(const Buffer &buffer, uint64_t offset, uint64_t bytes,
                         const char *action) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    throw Error(std::string("cannot ") + action + " bytes " +
                std::to_string(offset) + " to " +
                std::to_string(offset + bytes) + " of a buffer of " +
                std::to_string(buffer.bytes()) + " bytes");
}

void runtime::checkArguments(const DesignInterface &design,
                             const std::vector<BufferView> &arguments) {
  if (arguments.size() != design.arguments.size())
    throw Error("design '" + design.directory + "' expected " +
                std::to_string(design.arguments.size()) +
                " arguments but got " + std::to_string(arguments.size()));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo &info = design.arguments[i];
    const BufferView &view = arguments[i];
    const std::string who =
        "argument '" + info.name + "' of design '" + design.directory + "'";
    if (!view.buffer)
      throw Error(who + " expected a buffer but got none");
    const uint64_t size = view.buffer->bytes();
    if (view.offset > size || size - view.offset < info.bytes)
      throw Error(who + " expected " + std::to_string(info.bytes) +
                  " bytes but got a buffer of " + std::to_string(size) +
                  " from byte " + std::to_string(view.offset));
    if (view.offset % kAlignment)
      throw Error(who +
                  " expected an offset that is a multiple of 64 but got " +
                  std::to_string(view.offset));
  }
}

void runtime::checkParameters(const DesignInterface &design,
                              const ParameterValues &parameters) {
  for (const ParameterInfo &info : design.parameters) {
    const std::string who = "parameter '" + info.name + "' of design '" +
                            design.directory + "' expected a value from " +
                            std::to_string(info.min) + " to " +
                            std::to_string(info.max) + " but got ";
    auto value = parameters.find(info.name);
    if (value == parameters.end())
      throw Error(who + "none");
    if (value->second < info.min || value->second > info.max)
      throw Error(who + std::to_string(value->second));
  }
  if (parameters.size() != design.parameters.size())
    throw Error("design '" + design.directory + "' expected " +
                std::to_string(design.parameters.size()) +
                " parameters but got " + std::to_string(parameters.size()));
}
