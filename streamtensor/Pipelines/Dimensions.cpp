//===- Dimensions.cpp - limits of dynamic dimensions ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads IN.dims.json.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Dimensions.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Network/IndexExpr.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace streamtensor;

/// No tensor of more elements along one dimension is streamed.
static constexpr int64_t kMaxValue = 100'000'000;

std::vector<std::string>
streamtensor::dynamicDimensions(func::FuncOp function) {
  std::vector<std::string> dims;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      for (int64_t dim = 0; dim < tensor.getRank(); ++dim)
        if (tensor.isDynamicDim(dim))
          dims.push_back("arg" + std::to_string(index) + "." +
                         std::to_string(dim));
  return dims;
}

namespace {

/// Reads one file; collects what is wrong with it.
class Reader {
public:
  Reader(const llvm::json::Object &root, func::FuncOp function)
      : root(root), function(function) {}

  bool run(std::string &error) {
    readLimits();
    readSizes();
    if (problems.empty())
      findMissing();
    if (!problems.empty()) {
      error = problems;
      return false;
    }
    for (auto [index, shape] : shapes)
      function.setArgAttr(index, dataflow::kDimsAttr,
                          dataflow::dimsAttr(function.getContext(), shape));
    dataflow::setParameters(function, ranges);
    return true;
  }

private:
  void complain(const Twine &what) { problems += ("\n  " + what).str(); }

  /// The value of `name` in the object `key`, or nothing.
  std::optional<int64_t> limit(StringRef key, StringRef name) {
    const llvm::json::Object *object = root.getObject(key);
    const llvm::json::Value *value = object ? object->get(name) : nullptr;
    if (!value)
      return std::nullopt;
    std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < 0 || *number > kMaxValue) {
      complain("expected '" + key + "' of '" + name +
               "' to be an integer from 0 to " + Twine(kMaxValue));
      return std::nullopt;
    }
    return number;
  }

  void readLimits() {
    const llvm::json::Object *maximum = root.getObject("max");
    if (!maximum)
      return complain("expected an object 'max' with the largest value of each "
                      "parameter");
    SmallVector<std::string> names;
    for (const auto &entry : *maximum)
      names.push_back(StringRef(entry.first).str());
    if (const llvm::json::Object *minimum = root.getObject("min"))
      for (const auto &entry : *minimum)
        if (!maximum->get(entry.first))
          complain("parameter '" + StringRef(entry.first) +
                   "' has a minimum but no maximum");
    llvm::sort(names);
    for (const std::string &name : names) {
      if (!isParameterName(name))
        complain("expected the name of a parameter to be letters, digits and "
                 "'_', and none that means something else in conditions (i0, "
                 "i1, ..., and, or, xor, not, mod, floordiv, ceildiv), but got "
                 "'" +
                 name + "'; rename the dimension");
      std::optional<int64_t> largest = limit("max", name);
      int64_t smallest = limit("min", name).value_or(1);
      if (!largest)
        continue;
      if (smallest > *largest)
        complain("expected a minimum of parameter '" + name +
                 "' up to its maximum " + Twine(*largest) + " but got " +
                 Twine(smallest));
      ranges.push_back({name, smallest, *largest});
      // The size for which there is memory: sizes of 1 look like broadcasts.
      maxima[name] = std::max<int64_t>(*largest, 2);
    }
  }

  void readSizes() {
    const llvm::json::Object *dims = root.getObject("dims");
    if (!dims)
      return complain("expected an object 'dims' with the size of each dynamic "
                      "dimension, like \"arg9.1\": \"seq\"");
    SmallVector<std::string> keys;
    for (const auto &entry : *dims)
      keys.push_back(StringRef(entry.first).str());
    llvm::sort(keys);
    for (const std::string &key : keys)
      readSize(key, dims->getString(key));
  }

  void readSize(StringRef key, std::optional<StringRef> text) {
    auto [name, position] = key.split('.');
    unsigned index = 0, dim = 0;
    if (!name.consume_front("arg") || name.getAsInteger(10, index) ||
        position.getAsInteger(10, dim))
      return complain("expected a key like 'arg9.1' but got '" + key + "'");
    if (index >= function.getNumArguments())
      return complain("'" + key + "': the function has " +
                      Twine(function.getNumArguments()) + " arguments only");
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
    if (!type || dim >= static_cast<unsigned>(type.getRank()) ||
        !type.isDynamicDim(dim)) {
      std::string spelled;
      llvm::raw_string_ostream(spelled) << function.getArgumentTypes()[index];
      return complain("'" + key +
                      "' is no dynamic dimension: the argument is " + spelled);
    }
    if (!text)
      return complain("expected the size of '" + key + "' to be a text");
    std::string cause;
    ParameterValues known = maxima;
    std::optional<TripCount> size = TripCount::parse(text->str(), known, cause);
    if (!size)
      return complain("'" + key + "': " + cause);
    ParameterValues used;
    size->collectParameters(used);
    for (const auto &[parameter, unused] : used)
      if (!maxima.count(parameter))
        return complain("'" + key + "': parameter '" + parameter +
                        "' has no maximum");
    auto [entry, isNew] = shapes.try_emplace(index);
    dataflow::RuntimeShape &shape = entry->second;
    if (isNew)
      for (int64_t extent : type.getShape())
        shape.sizes.emplace_back(ShapedType::isDynamic(extent) ? -1 : extent);
    shape.sizes[dim] = *size;
    for (const auto &[parameter, unused] : used)
      shape.maxima[parameter] = maxima[parameter];
  }

  void findMissing() {
    for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      for (int64_t dim = 0; tensor && dim < tensor.getRank(); ++dim) {
        if (!tensor.isDynamicDim(dim))
          continue;
        auto known = shapes.find(index);
        if (known == shapes.end() || known->second.sizes[dim].isConstant(-1))
          complain("the size of dynamic dimension 'arg" + Twine(index) + "." +
                   Twine(dim) + "' is missing");
      }
    }
  }

  const llvm::json::Object &root;
  func::FuncOp function;
  std::string problems;
  SmallVector<dataflow::ParameterRange> ranges;
  ParameterValues maxima;
  std::map<unsigned, dataflow::RuntimeShape> shapes;
};

} // namespace

bool streamtensor::readDimensions(const std::string &path,
                                  func::FuncOp function, std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error = "cannot read '" + path + "': " + buffer.getError().message();
    return false;
  }
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse((*buffer)->getBuffer());
  if (!parsed) {
    error = "malformed '" + path + "': " + llvm::toString(parsed.takeError());
    return false;
  }
  const llvm::json::Object *root = parsed->getAsObject();
  if (!root) {
    error = "malformed '" + path + "': expected an object";
    return false;
  }
  if (Reader(*root, function).run(error))
    return true;
  error = "the dimensions in '" + path + "' do not fit function '" +
          function.getSymName().str() + "':" + error;
  return false;
}
