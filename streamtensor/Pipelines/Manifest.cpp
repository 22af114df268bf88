//===- Manifest.cpp - what the arguments are -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading of manifests.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Manifest.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Sim/HostTensor.h"
#include "streamtensor/Transforms/Memory/Passes.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace streamtensor;

static const llvm::StringSet<> &knownRoles() {
  static const llvm::StringSet<> roles{"weight", "input", "cache", "mask",
                                       "position"};
  return roles;
}

static std::optional<std::vector<int64_t>>
readShape(const llvm::json::Object &object, StringRef key) {
  const llvm::json::Array *list = object.getArray(key);
  if (!list)
    return std::nullopt;
  std::vector<int64_t> shape;
  for (const llvm::json::Value &value : *list) {
    std::optional<int64_t> size = value.getAsInteger();
    // -1: known at run time only.
    if (!size || *size < -1)
      return std::nullopt;
    shape.push_back(*size == -1 ? ShapedType::kDynamic : *size);
  }
  return shape;
}

static bool readArgument(const llvm::json::Value &value, size_t index,
                         ManifestArgument &argument, std::string &error) {
  auto fail = [&](StringRef what) {
    error = "argument " + std::to_string(index) + ": expected " + what.str();
    return false;
  };
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("an object");
  std::optional<StringRef> name = object->getString("name");
  std::optional<StringRef> role = object->getString("role");
  std::optional<StringRef> dtype = object->getString("dtype");
  std::optional<std::vector<int64_t>> shape = readShape(*object, "shape");
  if (!name)
    return fail("a string 'name'");
  if (!role || !knownRoles().contains(*role))
    return fail("'role' to be weight, input, cache, mask or position");
  if (!shape)
    return fail("a list of sizes 'shape'");
  argument.name = name->str();
  argument.role = role->str();
  argument.dtype = dtype.value_or("").str();
  argument.shape = *shape;
  if (object->get("buffer_shape")) {
    std::optional<std::vector<int64_t>> buffer =
        readShape(*object, "buffer_shape");
    if (!buffer)
      return fail("a list of sizes 'buffer_shape'");
    argument.bufferShape = *buffer;
  }
  return true;
}

static bool readRepeat(const llvm::json::Value &value, ManifestRepeat &repeat,
                       std::string &error) {
  auto fail = [&](StringRef what) {
    error = what.str();
    return false;
  };
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return fail("an object");
  for (auto [key, to] : {std::pair("parameter", &repeat.parameter),
                         std::pair("argument", &repeat.argument),
                         std::pair("result", &repeat.result)}) {
    std::optional<StringRef> text = object->getString(key);
    if (!text)
      return fail("a string '" + std::string(key) + "'");
    *to = text->str();
  }
  std::optional<int64_t> count = object->getInteger("count");
  if (!count || *count < 1 || *count > INT32_MAX)
    return fail("a number 'count' from 1 on");
  repeat.count = *count;
  const llvm::json::Array *shared = object->getArray("shared");
  if (!shared)
    return fail("a list 'shared'");
  for (const llvm::json::Value &name : *shared) {
    std::optional<StringRef> text = name.getAsString();
    if (!text)
      return fail("names in 'shared'");
    repeat.shared.push_back(text->str());
  }
  return true;
}

std::optional<Manifest> streamtensor::readManifest(const std::string &path,
                                                   std::string &error) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error =
        "cannot read manifest '" + path + "': " + buffer.getError().message();
    return std::nullopt;
  }
  auto fail = [&](const std::string &what) {
    error = "malformed manifest '" + path + "': " + what;
    return std::nullopt;
  };
  llvm::Expected<llvm::json::Value> parsed =
      llvm::json::parse((*buffer)->getBuffer());
  if (!parsed)
    return fail(llvm::toString(parsed.takeError()));
  const llvm::json::Object *root = parsed->getAsObject();
  if (!root)
    return fail("expected an object");
  if (root->getInteger("schema") != 1)
    return fail("expected schema 1");
  Manifest manifest;
  manifest.function = root->getString("function").value_or("").str();
  const llvm::json::Array *arguments = root->getArray("arguments");
  if (!arguments)
    return fail("expected a list 'arguments'");
  for (auto [index, value] : llvm::enumerate(*arguments)) {
    std::string what;
    if (!readArgument(value, index, manifest.arguments.emplace_back(), what))
      return fail(what);
  }
  if (const llvm::json::Array *results = root->getArray("results"))
    for (auto [index, value] : llvm::enumerate(*results)) {
      const llvm::json::Object *result = value.getAsObject();
      std::optional<StringRef> dtype =
          result ? result->getString("dtype") : std::nullopt;
      if (!dtype)
        return fail("result " + std::to_string(index) +
                    ": expected a string 'dtype'");
      manifest.resultDtypes.push_back(dtype->str());
    }
  if (const llvm::json::Value *value = root->get("repeat")) {
    ManifestRepeat repeat;
    std::string what;
    if (!readRepeat(*value, repeat, what))
      return fail("repeat: expected " + what);
    manifest.repeat = std::move(repeat);
  }
  if (std::optional<StringRef> weights = root->getString("weights")) {
    llvm::SmallString<256> resolved(*weights);
    if (llvm::sys::path::is_relative(resolved)) {
      resolved = llvm::sys::path::parent_path(path);
      llvm::sys::path::append(resolved, *weights);
    }
    manifest.weights = std::string(resolved);
  }
  return manifest;
}

/// Whether tensors of `type` are `dtype` in files. MLIR's integers have no
/// sign.
static bool matchesDtype(Type type, StringRef dtype) {
  std::optional<ElementKind> kind = getElementKind(getElementTypeOrSelf(type));
  if (!kind)
    return true; // refused later, with more to say
  StringRef name = getDtypeName(*kind);
  return name == dtype ||
         (name.consume_front("I") && dtype.consume_front("U") && name == dtype);
}

LogicalResult streamtensor::annotateArguments(func::FuncOp function,
                                              const Manifest *manifest) {
  Builder builder(function.getContext());
  unsigned count = function.getNumArguments();
  if (manifest && manifest->arguments.size() != count)
    return function.emitError()
           << "expected a manifest of " << count << " arguments but got "
           << manifest->arguments.size();
  for (unsigned i = 0; i < count; ++i) {
    // The names arg0, arg1, ... are the contract with the files of tensors;
    // what the model calls the argument is the manifest's `source`.
    function.setArgAttr(i, kArgumentNameAttr,
                        builder.getStringAttr("arg" + std::to_string(i)));
    if (!manifest) {
      function.setArgAttr(i, kArgumentRoleAttr, builder.getStringAttr("input"));
      continue;
    }
    const ManifestArgument &argument = manifest->arguments[i];
    auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
    if (!type || type.getShape() != ArrayRef<int64_t>(argument.shape))
      return function.emitError()
             << "expected argument " << i << " ('" << argument.name
             << "') to have the manifest's shape ["
             << llvm::make_range(argument.shape.begin(), argument.shape.end())
             << "] but it is " << function.getArgumentTypes()[i];
    if (!argument.dtype.empty() && !matchesDtype(type, argument.dtype))
      return function.emitError()
             << "expected argument " << i << " ('" << argument.name
             << "') to have the manifest's dtype " << argument.dtype
             << " but it is " << type;
    if (StringRef(argument.dtype).starts_with("U"))
      function.setArgAttr(i, kArgumentDtypeAttr,
                          builder.getStringAttr(argument.dtype));
    function.setArgAttr(i, kArgumentRoleAttr,
                        builder.getStringAttr(argument.role));
    if (argument.role == "weight" && !manifest->weights.empty())
      function.setArgAttr(
          i, kWeightFileAttr,
          builder.getStringAttr("weights/arg" + std::to_string(i) + ".bin"));
    if (!argument.bufferShape.empty())
      function.setArgAttr(i, kBufferShapeAttr,
                          builder.getDenseI64ArrayAttr(argument.bufferShape));
  }
  if (manifest && manifest->repeat) {
    const ManifestRepeat &repeat = *manifest->repeat;
    SmallVector<Attribute> shared;
    for (const std::string &name : repeat.shared)
      shared.push_back(builder.getStringAttr(name));
    auto text = [&](StringRef name, const std::string &value) {
      return builder.getNamedAttr(name, builder.getStringAttr(value));
    };
    function->setAttr(
        dataflow::kRepeatAttr,
        builder.getDictionaryAttr(
            {text("parameter", repeat.parameter),
             builder.getNamedAttr("count",
                                  builder.getI64IntegerAttr(repeat.count)),
             text("argument", repeat.argument), text("result", repeat.result),
             builder.getNamedAttr("shared", builder.getArrayAttr(shared))}));
  }
  if (!manifest || manifest->resultDtypes.empty())
    return success();
  if (manifest->resultDtypes.size() != function.getNumResults())
    return function.emitError()
           << "expected a manifest of " << function.getNumResults()
           << " results but got " << manifest->resultDtypes.size();
  for (auto [i, dtype] : llvm::enumerate(manifest->resultDtypes)) {
    Type type = function.getResultTypes()[i];
    if (!matchesDtype(type, dtype))
      return function.emitError()
             << "expected result " << i << " to have the manifest's dtype "
             << dtype << " but it is " << type;
    if (StringRef(dtype).starts_with("U"))
      function.setResultAttr(i, kArgumentDtypeAttr,
                             builder.getStringAttr(dtype));
  }
  return success();
}
