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

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Sim/RandomInputs.h"
#include "streamtensor/Sim/RuntimeSignature.h"
#include "streamtensor/Support/Safetensors.h"
#include "streamtensor/Support/SymbolicOrder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringExtras.h"
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

/// The tensors PREFIX0, PREFIX1 ... of a file, which must have these types; a
/// dynamic size is that of the file.
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
    if (tensorType)
      kind = getElementKind(tensorType.getElementType());
    if (!kind) {
      error = "expected '" + name + "' to be a tensor";
      return failure();
    }
    const TensorView *view = file->find(name);
    HostTensor tensor;
    const bool fits =
        view &&
        succeeded(verifyCompatibleShape(view->shape, tensorType.getShape()));
    if (fits)
      tensor = HostTensor(view->shape, *kind);
    if (!fits || view->bytes != tensor.data.size()) {
      llvm::raw_string_ostream(error)
          << "expected a '" << tensorType << "' named '" << name << "' in '"
          << path << "' but found "
          << (view ? "another shape or type" : "none");
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
    llvm::json::Object parameters;
    for (const auto &[name, value] : phase.parameters)
      parameters[name] = value;
    list.push_back(
        llvm::json::Object{{"name", phase.name},
                           {"parameters", std::move(parameters)},
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

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

namespace {

/// Whether the module has run-time counts. Before there are kernels a function
/// knows only the largest sizes.
bool hasKernels(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return isa<dataflow::KernelOp, hls::TaskOp>(op)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Values of the parameters, and what runs at them.
struct Choice {
  ParameterValues values;
  /// Phases without kernels; phases with them.
  bool runsStatic = true, runsKernels = true;
};

class Validator {
public:
  Validator(ArrayRef<PhaseModule> phases, ModuleOp input,
            const ValidateOptions &options, raw_ostream &os,
            ValidationReport &result)
      : phases(phases), input(input), options(options), os(os), result(result) {
  }

  LogicalResult run() {
    function = findInput(input, options.function, result.error);
    if (!function)
      return fail();
    FailureOr<RuntimeSignature> read =
        RuntimeSignature::of(function, result.error);
    if (failed(read))
      return fail();
    signature = std::move(*read);
    if (!options.data.empty())
      return runData();
    for (const Choice &choice : choices()) {
      if (!runsAnything(choice))
        continue;
      auto start = std::chrono::steady_clock::now();
      FailureOr<std::vector<HostTensor>> inputs =
          makeRandomInputs(function, signature.shapesAt(choice.values),
                           options.seed, result.error);
      if (failed(inputs))
        return fail();
      FailureOr<std::vector<HostTensor>> reference = runReference(
          input, function.getName(), *inputs, result.error, options.tools);
      if (failed(reference))
        return fail();
      sayReference(choice, *reference, "by mlir-runner", start);
      if (failed(runPhases(choice, *inputs, *reference)))
        return failure();
    }
    return success();
  }

private:
  LogicalResult fail() {
    os << "validation: " << result.error << "\n";
    return failure();
  }

  /// " with past = 3, seq = 7", or nothing without parameters.
  static std::string with(const ParameterValues &values) {
    return values.empty() ? "" : " with " + valuesString(values);
  }

  void sayReference(const Choice &choice, ArrayRef<HostTensor> reference,
                    const std::string &origin,
                    std::chrono::steady_clock::time_point start) {
    const double seconds = secondsSince(start);
    result.referenceSeconds += seconds;
    os << "reference" << with(choice.values) << ": " << reference.size()
       << " results " << origin << ", " << llvm::format("%.1f", seconds)
       << " s\n";
  }

  std::vector<Choice> choices() const {
    if (signature.parameters.empty())
      return {Choice()};
    const ParameterValues largest = signature.largest();
    std::vector<Choice> list{
        {signature.maxima, true, largest == signature.maxima}};
    for (const ParameterValues &values :
         {largest, signature.smallest(),
          makeRandomParameters(signature.parameters, options.seed)})
      if (llvm::none_of(list, [&](const Choice &choice) {
            return choice.runsKernels && choice.values == values;
          }))
        list.push_back({values, false, true});
    return list;
  }

  bool runsIn(const PhaseModule &phase, const Choice &choice) const {
    return hasKernels(phase.module) ? choice.runsKernels : choice.runsStatic;
  }

  bool runsAnything(const Choice &choice) const {
    return llvm::any_of(phases, [&](const PhaseModule &phase) {
      return runsIn(phase, choice);
    });
  }

  /// Inputs and results of a file.
  LogicalResult runData() {
    auto start = std::chrono::steady_clock::now();
    FailureOr<std::vector<HostTensor>> inputs = readTensors(
        options.data, "arg", function.getArgumentTypes(), result.error);
    if (failed(inputs))
      return fail();
    FailureOr<std::vector<HostTensor>> reference = readTensors(
        options.data, "result", function.getResultTypes(), result.error);
    if (failed(reference))
      return fail();
    FailureOr<ParameterValues> values = signature.solve(*inputs, result.error);
    if (failed(values)) {
      result.error = "in '" + options.data + "': " + result.error;
      return fail();
    }
    Choice choice{*values, *values == signature.maxima, true};
    sayReference(choice, *reference, "of '" + options.data + "'", start);
    for (const PhaseModule &phase : phases)
      if (!runsIn(phase, choice))
        os << "phase '" << phase.name << "': not run, it is for "
           << valuesString(signature.maxima) << " only\n";
    return runPhases(choice, *inputs, *reference);
  }

  /// Runs `inputs` through the phases for which `choice` is.
  LogicalResult runPhases(const Choice &choice, ArrayRef<HostTensor> inputs,
                          ArrayRef<HostTensor> reference) {
    std::vector<HostTensor> previousResults;
    Recording previous;
    std::string previousName;
    for (const PhaseModule &module : phases) {
      if (!runsIn(module, choice))
        continue;
      result.phases.emplace_back();
      PhaseValidation &phase = result.phases.back();
      phase.name = module.name;
      phase.parameters = choice.values;
      const std::string title =
          "phase '" + phase.name + "'" + with(choice.values) + ": ";
      Recording recording;
      auto start = std::chrono::steady_clock::now();
      FailureOr<std::vector<HostTensor>> results =
          runPhase(module.module, choice, inputs, reference, recording, phase);
      phase.seconds = secondsSince(start);
      if (succeeded(results))
        compareResults(*results, reference, options.tolerance, phase);
      if (!phase.error.empty()) {
        os << title << phase.error << "\n";
        return failure();
      }
      if (!phase.ok) {
        if (auto task = findFirstDifference(recording, previous, inputs,
                                            options.tolerance))
          phase.difference = task;
        os << title << phase.difference->str() << "\n";
        return failure();
      }
      phase.equalToPrevious = sameBytes(*results, previousResults);
      os << title << "equal to the reference within "
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

  FailureOr<std::vector<HostTensor>>
  runPhase(ModuleOp module, const Choice &choice, ArrayRef<HostTensor> inputs,
           ArrayRef<HostTensor> reference, Recording &recording,
           PhaseValidation &phase) {
    InterpretOptions interpretOptions;
    interpretOptions.parameters = choice.values;
    interpretOptions.recording = &recording;
    interpretOptions.recordLimitBytes = options.recordLimitBytes;
    const std::string name = nameIn(module, function.getName());
    if (choice.values.empty())
      return interpret(module, name, inputs, interpretOptions, phase.error);
    FailureOr<std::vector<HostTensor>> large =
        placeInputs(module, name, inputs, phase.error);
    if (failed(large))
      return failure();
    FailureOr<std::vector<HostTensor>> results =
        interpret(module, name, *large, interpretOptions, phase.error);
    if (failed(results))
      return failure();
    return cutResults(module.lookupSymbol<func::FuncOp>(name), choice,
                      std::move(*results), reference, phase.error);
  }

  /// The inputs in the corner of tensors of the shapes that the phase has.
  FailureOr<std::vector<HostTensor>> placeInputs(ModuleOp module,
                                                 StringRef name,
                                                 ArrayRef<HostTensor> inputs,
                                                 std::string &error) const {
    FailureOr<std::vector<std::vector<int64_t>>> shapes =
        getInputShapes(module, name, inputs.size(), error);
    if (failed(shapes))
      return failure();
    std::vector<HostTensor> large(inputs.begin(), inputs.end());
    for (auto [input, shape] : llvm::zip(large, *shapes))
      if (input.shape != shape && fitsInCorner(input.shape, shape))
        input = placeInCorner(input, shape);
    return large;
  }

  static bool fitsInCorner(ArrayRef<int64_t> shape, ArrayRef<int64_t> of) {
    return shape.size() == of.size() &&
           llvm::all_of(llvm::zip(shape, of), [](auto sizes) {
             return std::get<0>(sizes) <= std::get<1>(sizes);
           });
  }

  /// The results cut to the sizes of the reference, which must be those that
  /// the phase says: it is how a host knows them.
  FailureOr<std::vector<HostTensor>> cutResults(func::FuncOp phaseFunction,
                                                const Choice &choice,
                                                std::vector<HostTensor> results,
                                                ArrayRef<HostTensor> reference,
                                                std::string &error) const {
    auto shapes = getResultShapes(phaseFunction, choice.values, error);
    if (failed(shapes))
      return failure();
    for (auto [index, actual, expected] : llvm::enumerate(results, reference)) {
      if (index < shapes->size() && (*shapes)[index] &&
          (*shapes)[index]->size() == expected.shape.size() &&
          *(*shapes)[index] != expected.shape) {
        error = ("expected '" + dataflow::kDimsAttr + "' of result " +
                 Twine(index) + " to say the sizes of a " +
                 expected.describe() + " but it says [" +
                 llvm::join(llvm::map_range(*(*shapes)[index],
                                            [](int64_t size) {
                                              return std::to_string(size);
                                            }),
                            ", ") +
                 "]")
                    .str();
        return failure();
      }
      if (actual.shape != expected.shape &&
          fitsInCorner(expected.shape, actual.shape))
        actual = cutCorner(actual, expected.shape);
    }
    return results;
  }

  ArrayRef<PhaseModule> phases;
  ModuleOp input;
  const ValidateOptions &options;
  raw_ostream &os;
  ValidationReport &result;
  func::FuncOp function;
  RuntimeSignature signature;
};

} // namespace

LogicalResult streamtensor::validatePhases(ArrayRef<PhaseModule> phases,
                                           ModuleOp input,
                                           const ValidateOptions &options,
                                           raw_ostream &os,
                                           ValidationReport *report) {
  ValidationReport local;
  ValidationReport &result = report ? *report : local;
  result = ValidationReport();
  result.seed = options.seed;
  return Validator(phases, input, options, os, result).run();
}
