//===- ValidatePhases.cpp - Every phase against the reference -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Comparison of results, and the report of a validation.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/ValidatePhases.h"

#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Sim/RandomInputs.h"
#include "streamtensor/Support/Safetensors.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/Format.h"

#include <chrono>
#include <cmath>
#include <cstring>

using namespace mlir;
using namespace streamtensor;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

func::FuncOp findInput(ModuleOp module, StringRef name, std::string &error) {
  if (!name.empty()) {
    if (auto function = module.lookupSymbol<func::FuncOp>(name))
      return function;
    error = ("expected a function named '" + name + "' but found none").str();
    return nullptr;
  }
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic() || function.isExternal())
      continue;
    if (found) {
      error = "expected one public function but found several";
      return nullptr;
    }
    found = function;
  }
  if (!found)
    error = "expected one public function but found none";
  return found;
}

/// What function `name` is called in `module`: the last phase renames what is a
/// word of C++, such as main.
std::string nameIn(ModuleOp module, StringRef name) {
  return module.lookupSymbol(name) ? name.str() : hls::makeIdentifier(name);
}

/// The tensors PREFIX0, PREFIX1 ... of a file, which must have these types.
FailureOr<std::vector<HostTensor>> readTensors(const std::string &path,
                                               StringRef prefix,
                                               TypeRange types,
                                               std::string &error) {
  std::optional<SafetensorsFile> file = SafetensorsFile::open(path, error);
  if (!file)
    return failure();
  std::vector<HostTensor> tensors;
  for (auto [index, type] : llvm::enumerate(types)) {
    const std::string name = (prefix + Twine(index)).str();
    auto tensorType = dyn_cast<RankedTensorType>(type);
    std::optional<ElementKind> kind;
    if (tensorType && tensorType.hasStaticShape())
      kind = getElementKind(tensorType.getElementType());
    if (!kind) {
      error = "expected '" + name + "' to be a static tensor";
      return failure();
    }
    HostTensor tensor(tensorType.getShape(), *kind);
    const TensorView *view = file->find(name);
    if (!view || ArrayRef(view->shape) != tensorType.getShape() ||
        view->bytes != tensor.data.size()) {
      error = "expected a " + tensor.describe() + " '" + name + "' in '" +
              path + "' but found " + (view ? "another shape or type" : "none");
      return failure();
    }
    if (view->bytes)
      std::memcpy(tensor.data.data(), view->data, view->bytes);
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// A number as text that reads back as the same float.
std::string numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

bool sameBytes(ArrayRef<HostTensor> a, ArrayRef<HostTensor> b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return std::get<0>(pair).data == std::get<1>(pair).data;
         });
}

/// Compares all results; sets ok, the figures, and the first difference.
void compareResults(ArrayRef<HostTensor> actual, ArrayRef<HostTensor> expected,
                    double tolerance, PhaseValidation &phase) {
  if (actual.size() != expected.size()) {
    phase.error = "expected " + std::to_string(expected.size()) +
                  " results but got " + std::to_string(actual.size());
    return;
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    std::optional<ValueDifference> difference =
        compareTensors(actual[i], expected[i], tolerance, &phase);
    if (!difference || phase.difference)
      continue;
    difference->result = i;
    phase.difference = difference;
  }
  phase.ok = !phase.difference;
}

} // namespace

std::string ValueDifference::str() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (task.empty())
    stream << "result " << result << " element " << element;
  else
    stream << "task '" << task << "' token " << token << " element " << element;
  stream << ": expected " << numberText(expected) << " but got "
         << numberText(actual);
  return text;
}

double streamtensor::toleranceOf(ElementKind kind, double tolerance) {
  switch (kind) {
  case ElementKind::F32:
  case ElementKind::F64:
    return tolerance;
  case ElementKind::F16:
    return std::max(tolerance, 5 * 0x1p-11);
  case ElementKind::BF16:
    return std::max(tolerance, 5 * 0x1p-8);
  default:
    return 0;
  }
}

std::optional<ValueDifference>
streamtensor::compareTensors(const HostTensor &actual,
                             const HostTensor &expected, double tolerance,
                             PhaseValidation *phase) {
  if (actual.kind != expected.kind || actual.shape != expected.shape)
    return ValueDifference();
  std::optional<ValueDifference> first;
  double largest = 0;
  for (int64_t i = 0; i < expected.numElements(); ++i)
    if (double value = std::abs(expected.asDouble(i)); std::isfinite(value))
      largest = std::max(largest, value);
  for (int64_t i = 0; i < expected.numElements(); ++i) {
    double a = actual.asDouble(i), e = expected.asDouble(i);
    if (a == e || (std::isnan(a) && std::isnan(e)))
      continue;
    double error = std::abs(a - e);
    double allowed =
        toleranceOf(expected.kind, tolerance) * (std::abs(e) + largest);
    // Also true for NaN on one side.
    bool differs = !(error <= allowed);
    if (phase) {
      phase->maxAbsError = std::fmax(phase->maxAbsError, error);
      phase->toleranceRatio = std::fmax(phase->toleranceRatio, error / allowed);
    }
    if (!differs || first)
      continue;
    first = ValueDifference();
    first->element = i;
    first->expected = e;
    first->actual = a;
  }
  return first;
}

bool ValidationReport::ok() const {
  return error.empty() && !phases.empty() &&
         llvm::all_of(phases, [](const PhaseValidation &p) { return p.ok; });
}

llvm::json::Value ValidationReport::toJson() const {
  // JSON has no NaN or infinity.
  auto number = [](double value) -> llvm::json::Value {
    return std::isfinite(value) ? llvm::json::Value(value)
                                : llvm::json::Value(nullptr);
  };
  auto optional = [](const std::string &text) -> llvm::json::Value {
    return text.empty() ? llvm::json::Value(nullptr) : llvm::json::Value(text);
  };
  llvm::json::Array list;
  for (const PhaseValidation &phase : phases) {
    llvm::json::Value difference = nullptr;
    if (const auto &d = phase.difference)
      difference = llvm::json::Object{
          {"task", optional(d->task)},  {"fifo", optional(d->fifo)},
          {"result", d->result},        {"token", d->token},
          {"element", d->element},      {"expected", number(d->expected)},
          {"actual", number(d->actual)}};
    list.push_back(
        llvm::json::Object{{"name", phase.name},
                           {"ok", phase.ok},
                           {"error", optional(phase.error)},
                           {"max_abs_error", number(phase.maxAbsError)},
                           {"tolerance_ratio", number(phase.toleranceRatio)},
                           {"equal_to_previous", phase.equalToPrevious},
                           {"difference", std::move(difference)},
                           {"seconds", number(phase.seconds)}});
  }
  return llvm::json::Object{{"seed", static_cast<int64_t>(seed)},
                            {"ok", ok()},
                            {"error", optional(error)},
                            {"reference_seconds", number(referenceSeconds)},
                            {"phases", std::move(list)}};
}

LogicalResult streamtensor::validatePhases(ArrayRef<PhaseModule> phases,
                                           ModuleOp input,
                                           const ValidateOptions &options,
                                           raw_ostream &os,
                                           ValidationReport *report) {
  ValidationReport local;
  ValidationReport &result = report ? *report : local;
  result = ValidationReport();
  result.seed = options.seed;
  auto fail = [&]() -> LogicalResult {
    os << "validation: " << result.error << "\n";
    return failure();
  };
  func::FuncOp function = findInput(input, options.function, result.error);
  if (!function)
    return fail();
  auto start = std::chrono::steady_clock::now();
  FailureOr<std::vector<HostTensor>> inputs, reference;
  if (options.data.empty()) {
    inputs = makeRandomInputs(function, options.seed, result.error);
    if (failed(inputs))
      return fail();
    reference = runReference(input, function.getName(), *inputs, result.error,
                             options.tools);
  } else {
    inputs = readTensors(options.data, "arg", function.getArgumentTypes(),
                         result.error);
    if (failed(inputs))
      return fail();
    reference = readTensors(options.data, "result", function.getResultTypes(),
                            result.error);
  }
  if (failed(reference))
    return fail();
  result.referenceSeconds = secondsSince(start);
  os << "reference: " << reference->size() << " results "
     << (options.data.empty() ? "by mlir-runner" : "of '" + options.data + "'")
     << ", " << llvm::format("%.1f", result.referenceSeconds) << " s\n";

  std::vector<HostTensor> previousResults;
  Recording previous;
  std::string previousName;
  for (const PhaseModule &module : phases) {
    result.phases.emplace_back();
    PhaseValidation &phase = result.phases.back();
    phase.name = module.name;
    Recording recording;
    InterpretOptions interpretOptions;
    interpretOptions.recording = &recording;
    interpretOptions.recordLimitBytes = options.recordLimitBytes;
    start = std::chrono::steady_clock::now();
    FailureOr<std::vector<HostTensor>> results =
        interpret(module.module, nameIn(module.module, function.getName()),
                  *inputs, interpretOptions, phase.error);
    phase.seconds = secondsSince(start);
    if (succeeded(results))
      compareResults(*results, *reference, options.tolerance, phase);
    if (!phase.error.empty()) {
      os << "phase '" << phase.name << "': " << phase.error << "\n";
      return failure();
    }
    if (!phase.ok) {
      if (auto task = findFirstDifference(recording, previous, *inputs,
                                          options.tolerance))
        phase.difference = task;
      os << "phase '" << phase.name << "': " << phase.difference->str() << "\n";
      return failure();
    }
    phase.equalToPrevious = sameBytes(*results, previousResults);
    os << "phase '" << phase.name << "': equal to the reference within "
       << llvm::format("%.2g", phase.toleranceRatio) << " of the tolerance";
    if (!previousName.empty())
      os << (phase.equalToPrevious ? ", bit for bit equal to '"
                                   : ", rounded differently from '")
         << previousName << "'";
    os << ", " << llvm::format("%.1f", phase.seconds) << " s\n";
    previousResults = std::move(*results);
    previous = std::move(recording);
    previousName = module.name;
  }
  return success();
}
