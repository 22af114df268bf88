//===- DesignInterface.cpp - What a host knows of a design ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading and checking interface.json.
//
//===----------------------------------------------------------------------===//

#include "runtime/DesignInterface.h"

#include "runtime/Error.h"
#include "runtime/JsonFields.h"
#include "runtime/System.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

constexpr int64_t kSchema = 1;
constexpr int64_t kMaxElementBytes = 8;

struct RoleSpelling {
  Role role;
  const char *name;
};
constexpr RoleSpelling kRoles[] = {
    {Role::Input, "input"},         {Role::Weight, "weight"},
    {Role::Cache, "cache"},         {Role::Mask, "mask"},
    {Role::Position, "position"},   {Role::Output, "output"},
    {Role::Workspace, "workspace"},
};

Role readRole(const JsonFields &fields) {
  const std::string name = fields.string("role");
  std::string known;
  for (const RoleSpelling &spelling : kRoles) {
    if (name == spelling.name)
      return spelling.role;
    known += std::string(known.empty() ? "" : ", ") + spelling.name;
  }
  fields.fail("role", "expected one of " + known + " but got '" + name + "'");
}

std::vector<int64_t> readShape(const JsonFields &fields,
                               const std::string &key) {
  std::vector<int64_t> shape = fields.integers(key);
  int64_t bytes = kMaxElementBytes;
  for (int64_t size : shape)
    if (size < 0)
      fields.fail(key,
                  "expected sizes of at least 0 but got " + shapeString(shape));
    else if (__builtin_mul_overflow(bytes, std::max<int64_t>(size, 1), &bytes))
      fields.fail(key, "expected fewer than 2^63 bytes but got " +
                           shapeString(shape));
  return shape;
}

void readPacking(const JsonFields &fields, ArgumentInfo &argument) {
  argument.packedShape = fields.has("packed_shape")
                             ? readShape(fields, "packed_shape")
                             : argument.shape;
  if (elementCount(argument.packedShape) != elementCount(argument.shape))
    fields.fail("packed_shape", "expected as many elements as shape " +
                                    shapeString(argument.shape) + " but got " +
                                    shapeString(argument.packedShape));
  if (!fields.has("packing"))
    return;
  const JsonFields packing = fields.object("packing");
  TokenOrder order;
  order.element = packing.integers("element");
  order.trips = packing.integers("trips");
  order.steps = packing.integers("steps");
  order.map = packing.indexLists("map");
  std::string error;
  if (!order.verify(error))
    fields.fail("packing", error);
  // Elements may pass several times, but they fit the memory.
  int64_t bytes = dtypeBytes(argument.dtype);
  if (__builtin_mul_overflow(bytes, order.numTokens(), &bytes) ||
      __builtin_mul_overflow(bytes, order.tokenElements(), &bytes) ||
      static_cast<uint64_t>(bytes) > argument.bytes)
    fields.fail("packing", "expected an order that fits the " +
                               std::to_string(argument.bytes) +
                               " bytes of the argument");
  argument.packing = std::move(order);
}

std::vector<ParameterInfo> readParameters(const JsonFields &fields) {
  std::vector<ParameterInfo> parameters;
  // Designs of earlier versions have none.
  if (!fields.has("parameters"))
    return parameters;
  for (const JsonFields &item : fields.objects("parameters")) {
    ParameterInfo parameter;
    parameter.name = item.string("name");
    parameter.min = item.integerAtLeast("min", 0);
    parameter.max = item.integerAtLeast("max", parameter.min);
    // The kernel takes it as an int.
    if (parameter.max > std::numeric_limits<int32_t>::max())
      item.fail("max", "expected at most 2^31 - 1 but got " +
                           std::to_string(parameter.max));
    for (const ParameterInfo &other : parameters)
      if (other.name == parameter.name)
        item.fail("name", "expected each parameter once but got '" +
                              parameter.name + "' twice");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

/// The largest value of each parameter.
ParameterValues maximaOf(const std::vector<ParameterInfo> &parameters) {
  ParameterValues maxima;
  for (const ParameterInfo &parameter : parameters)
    maxima[parameter.name] = parameter.max;
  return maxima;
}

/// Reads expressions of the design's parameters.
std::vector<TripCount> readExpressions(const JsonFields &fields,
                                       const std::string &key,
                                       const ParameterValues &maxima) {
  std::vector<TripCount> expressions;
  for (const std::string &text : fields.strings(key)) {
    std::string error;
    ParameterValues known = maxima;
    const std::optional<TripCount> expression =
        TripCount::parse(text, known, error);
    if (!expression || known.size() != maxima.size())
      fields.fail(
          key, "expected an expression of the design's parameters but got '" +
                   text + "'");
    expressions.push_back(*expression);
  }
  return expressions;
}

/// Reads the expressions of sizes that are known at run time.
void readSizes(const JsonFields &fields,
               const std::vector<ParameterInfo> &parameters,
               ArgumentInfo &argument) {
  if (!fields.has("dims"))
    return;
  const ParameterValues maxima = maximaOf(parameters);
  argument.sizes = readExpressions(fields, "dims", maxima);
  if (argument.sizes.size() != argument.shape.size())
    fields.fail("dims", "expected " + std::to_string(argument.shape.size()) +
                            " sizes but got " +
                            std::to_string(argument.sizes.size()));
  for (size_t i = 0; i < argument.sizes.size(); ++i) {
    const TripCount &size = argument.sizes[i];
    if (size.highest(maxima) > argument.shape[i] ||
        (size.isConstant() && !size.isConstant(argument.shape[i])))
      fields.fail("dims", "expected size '" + size.str() + "' to fit " +
                              std::to_string(argument.shape[i]) +
                              ", the size in shape, but it is up to " +
                              std::to_string(size.highest(maxima)));
  }
}

DType readDType(const JsonFields &fields) {
  const std::string dtype = fields.string("dtype");
  const std::optional<DType> known = parseDType(dtype);
  if (!known)
    fields.fail("dtype",
                "expected a type of safetensors such as F32 but got '" + dtype +
                    "'");
  return *known;
}

FifoValue readValue(const JsonFields &fields,
                    const std::vector<ParameterInfo> &parameters) {
  FifoValue value;
  value.names = fields.strings("names");
  value.dtype = readDType(fields);
  value.order.element = fields.integers("element");
  value.order.trips = readExpressions(fields, "trips", maximaOf(parameters));
  value.order.steps = fields.integers("steps");
  value.order.map = fields.indexLists("map");
  value.order.setMaxima(maximaOf(parameters));
  std::string error;
  if (!value.order.verify(error, /*allowOverlap=*/true))
    fields.fail("trips", error);
  return value;
}

ArgumentInfo readArgument(const JsonFields &fields,
                          const std::vector<ParameterInfo> &parameters,
                          const std::string &directory) {
  ArgumentInfo argument;
  argument.name = fields.string("name");
  argument.role = readRole(fields);
  argument.dtype = readDType(fields);
  argument.shape = readShape(fields, "shape");
  readSizes(fields, parameters, argument);
  argument.bufferShape = fields.has("buffer_shape")
                             ? readShape(fields, "buffer_shape")
                             : argument.shape;
  bool fits = argument.bufferShape.size() == argument.shape.size();
  for (size_t i = 0; fits && i < argument.shape.size(); ++i)
    fits = argument.bufferShape[i] >= argument.shape[i];
  if (!fits)
    fields.fail("buffer_shape", "expected at least " +
                                    shapeString(argument.shape) + " but got " +
                                    shapeString(argument.bufferShape));
  argument.bytes = fields.integerAtLeast("bytes", 0);
  const uint64_t needed =
      elementCount(argument.bufferShape) * dtypeBytes(argument.dtype);
  if (argument.bytes < needed)
    fields.fail("bytes", "expected at least " + std::to_string(needed) +
                             " for " + shapeString(argument.bufferShape) + " " +
                             dtypeName(argument.dtype) + " but got " +
                             std::to_string(argument.bytes));
  readPacking(fields, argument);
  const std::string file = fields.stringOr("file", "");
  if (!file.empty())
    argument.file = resolvePath(directory, file);
  return argument;
}

/// Reads fields that say what is counted, and checks that they name FIFOs.
void readCounts(const JsonFields &fields, DesignInterface &design) {
  std::set<std::string> names;
  for (const JsonFields &item : fields.objects("fifos")) {
    FifoInfo fifo;
    fifo.name = item.string("name");
    fifo.group = item.stringOr("group", "");
    fifo.producer = item.stringOr("producer", "");
    fifo.consumer = item.stringOr("consumer", "");
    fifo.depth = item.integerAtLeast("depth", 1);
    if (item.has("value"))
      fifo.value = readValue(item.object("value"), design.parameters);
    names.insert(fifo.name);
    design.fifos.push_back(std::move(fifo));
  }
  auto readFifo = [&](const JsonFields &item, const std::string &key) {
    std::string name = item.stringOr(key, "");
    if (!name.empty() && !names.count(name))
      item.fail(key, "expected the name of a fifo of this design but got '" +
                         name + "'");
    return name;
  };
  for (const JsonFields &item : fields.objects("tasks")) {
    TaskInfo task;
    task.name = item.string("name");
    task.group = item.stringOr("group", "");
    task.macsFifo = readFifo(item, "macs_fifo");
    if (!task.macsFifo.empty())
      task.macsPerToken = item.integerAtLeast("macs_per_token", 0);
    design.tasks.push_back(std::move(task));
  }
  for (const JsonFields &item : fields.objects("dma")) {
    DmaInfo dma;
    dma.name = item.string("name");
    dma.direction = item.string("direction");
    if (dma.direction != "in" && dma.direction != "out")
      item.fail("direction",
                "expected 'in' or 'out' but got '" + dma.direction + "'");
    dma.argument = item.stringOr("argument", "");
    dma.fifo = readFifo(item, "fifo");
    dma.bytesPerToken = item.integerAtLeast("bytes_per_token", 0);
    dma.exceptFifo = readFifo(item, "except_fifo");
    if (!dma.exceptFifo.empty())
      dma.exceptBytesPerToken =
          item.integerAtLeast("except_bytes_per_token", 0);
    for (const TaskInfo &task : design.tasks)
      if (task.name == dma.name)
        dma.group = task.group;
    dma.group = item.stringOr("group", dma.group);
    design.dma.push_back(std::move(dma));
  }
}

} // namespace

const char *runtime::roleName(Role role) {
  for (const RoleSpelling &spelling : kRoles)
    if (spelling.role == role)
      return spelling.name;
  return "unknown";
}

bool ArgumentInfo::isRunTimeInput() const {
  if (role == Role::Weight)
    return file.empty();
  return role != Role::Output && role != Role::Workspace;
}

ArgumentInfo ArgumentInfo::at(const ParameterValues &values) const {
  ArgumentInfo result = *this;
  for (size_t i = 0; i < sizes.size(); ++i)
    result.shape[i] = sizes[i].evaluate(values);
  return result;
}

ArgumentInfo ArgumentInfo::slot() const {
  ArgumentInfo result = *this;
  result.bytes /= static_cast<uint64_t>(bufferShape.front());
  result.shape.erase(result.shape.begin());
  result.bufferShape.erase(result.bufferShape.begin());
  if (!sizes.empty())
    result.sizes.erase(result.sizes.begin());
  if (packing) {
    // Its first loop walks over the slots.
    result.packedShape.erase(result.packedShape.begin());
    TokenOrder &order = *result.packing;
    order.element.erase(order.element.begin());
    order.trips.erase(order.trips.begin());
    order.steps.erase(order.steps.begin());
    order.map.erase(order.map.begin());
    for (std::vector<unsigned> &loops : order.map)
      for (unsigned &loop : loops)
        --loop;
  }
  return result;
}

DesignInterface DesignInterface::read(const std::string &directory) {
  const std::string path = resolvePath(directory, "interface.json");
  if (!std::filesystem::exists(path))
    throw Error("expected a compiled design in '" + directory +
                "' but there is no interface.json; make one with "
                "streamtensor-compile --output-dir");
  const JsonFields fields = JsonFields::readFile(path);
  const int64_t schema = fields.integer("schema");
  if (schema != kSchema)
    fields.fail("schema", "expected 1 but got " + std::to_string(schema) +
                              "; compile the design again");
  DesignInterface design;
  design.directory = directory;
  design.function = fields.string("function");
  design.kernel = resolvePath(directory, fields.string("kernel"));
  design.kernelSha256 = fields.string("kernel_sha256");
  design.parameters = readParameters(fields);
  std::set<std::string> names;
  for (const JsonFields &item : fields.objects("arguments")) {
    design.arguments.push_back(
        readArgument(item, design.parameters, directory));
    if (!names.insert(design.arguments.back().name).second)
      item.fail("name", "expected each argument once but got '" +
                            design.arguments.back().name + "' twice");
  }
  readCounts(fields, design);
  return design;
}

size_t DesignInterface::indexOf(const std::string &argument) const {
  std::string known;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name == argument)
      return i;
    known += (i ? ", " : "") + arguments[i].name;
  }
  throw Error("expected an argument of design '" + directory + "' (" + known +
              ") but got '" + argument + "'");
}

uint64_t runtime::elementCount(const std::vector<int64_t> &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    count *= static_cast<uint64_t>(size);
  return count;
}
