//===- EmitHost.cpp - The host program of a design ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program reads and checks everything before it opens the board. What does
// not depend on the design is in st_host.h.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Host/EmitHost.h"

#include "streamtensor/Support/TripCount.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace streamtensor;

const char *const streamtensor::kHostHeader =
#include "HostHeader.inc"
    ;

namespace {

/// How the value of a parameter is found: dimension `dim` of argument
/// `argument`, minus `rest`, divided by `factor`.
struct Solution {
  size_t parameter, argument, dim;
  TripCount rest;
  int64_t factor;
};

class HostEmitter {
public:
  HostEmitter(const HostDesign &design, llvm::raw_ostream &os)
      : design(design), os(os) {
    for (const HostParameter &parameter : design.parameters)
      maxima[parameter.name] = parameter.largest;
  }

  bool emit(std::string &error);

private:
  bool readSizes(std::string &error);
  void solveSizes();
  bool isInput(const HostArgument &argument) const {
    return argument.role != "output" && argument.role != "workspace" &&
           argument.file.empty();
  }
  bool isSolved(size_t parameter) const {
    return llvm::any_of(solutions, [&](const Solution &solution) {
      return solution.parameter == parameter;
    });
  }
  std::string spell(const TripCount &size) const;
  std::string shapeText(size_t argument) const;

  void emitHeader();
  void emitLayout(size_t argument);
  void emitInputs();
  void emitBoard();
  void emitResults();

  const HostDesign &design;
  llvm::raw_ostream &os;
  ParameterValues maxima;
  /// Per argument the sizes of its dimensions.
  std::vector<std::vector<TripCount>> sizes;
  std::vector<Solution> solutions;
};

/// "{1, 2}"
template <typename T>
std::string braces(const std::vector<T> &values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleaveComma(values, os);
  os << '}';
  return text;
}

/// A string literal.
std::string quoted(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '"';
  os.write_escaped(text, /*UseHexEscapes=*/false);
  os << '"';
  return result;
}

/// The variable that holds its contents on the host; the suffix keeps it apart
/// from the program's own variables.
std::string dataName(const HostArgument &argument) {
  return argument.variable + "_data";
}

/// The constant that describes an argument.
std::string layoutName(const HostArgument &argument) {
  return "k_" + argument.variable;
}

} // namespace

bool HostEmitter::readSizes(std::string &error) {
  for (const HostArgument &argument : design.arguments) {
    std::vector<TripCount> shape(argument.shape.begin(), argument.shape.end());
    for (size_t d = 0; d < argument.dims.size(); ++d) {
      std::optional<TripCount> size =
          TripCount::parse(argument.dims[d], maxima, error);
      if (!size)
        return false;
      shape[d] = *size;
    }
    sizes.push_back(std::move(shape));
    if (argument.bytes >= kXrtBufferLimit) {
      error = "expected an argument below 4 GB, the limit of a buffer of XRT, "
              "but '" +
              argument.name + "' has " + std::to_string(argument.bytes) +
              " bytes; split the tensor in the model";
      return false;
    }
  }
  return true;
}

/// A dimension decides a parameter when it is the only unknown one there and
/// stands outside of every rounding: p * factor + what is known.
void HostEmitter::solveSizes() {
  ParameterValues unknown;
  for (const HostParameter &parameter : design.parameters)
    unknown[parameter.name] = 0;
  auto tryDimension = [&](size_t argument, size_t dim) {
    const TripCount &size = sizes[argument][dim];
    ParameterValues used;
    size.collectParameters(used);
    std::string name;
    for (const auto &entry : used) {
      if (!unknown.count(entry.first))
        continue;
      if (!name.empty())
        return false;
      name = entry.first;
    }
    if (name.empty())
      return false;
    const TripCount rest = size.substitute({{name, 0}});
    const TripCount step = size.substitute({{name, 1}}) + rest * -1;
    if (!step.isConstant() || step.getConstant() < 1 ||
        size != TripCount::parameter(name) * step.getConstant() + rest)
      return false;
    size_t parameter = 0;
    while (design.parameters[parameter].name != name)
      ++parameter;
    solutions.push_back({parameter, argument, dim, rest, step.getConstant()});
    unknown.erase(name);
    return true;
  };
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < sizes.size(); ++i)
      for (size_t d = 0; isInput(design.arguments[i]) && d < sizes[i].size();
           ++d)
        more |= tryDimension(i, d);
  }
}

/// In C++, where a parameter `p` is the variable `n_p`.
std::string HostEmitter::spell(const TripCount &size) const {
  const std::string text = size.str();
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_'))
      ++end;
    if (end == i) {
      result += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    if (!llvm::isDigit(word[0]) && word != "ceildiv")
      result += "n_";
    result += word;
    i = end;
  }
  return result;
}

/// The run-time shape of an argument: "{n_seq, 4}".
std::string HostEmitter::shapeText(size_t argument) const {
  std::vector<std::string> texts;
  for (const TripCount &size : sizes[argument])
    texts.push_back(spell(size));
  return braces(texts);
}

void HostEmitter::emitHeader() {
  os << "// Written by streamtensor-compile: runs design '" << design.function
     << "' on a board through XRT.\n"
        "//\n"
        "//   make host                                     in the folder "
        "above\n"
        "//   host/host --inputs in.safetensors --outputs out.safetensors\n"
        "//\n"
        "// What does not depend on the design is in st_host.h.\n"
        "#include \"st_host.h\"\n\n"
        "using namespace st_host;\n\n"
        "namespace {\n\n"
        "const char *const kUsage =\n"
        "    \"usage: host --inputs IN.safetensors --outputs "
        "OUT.safetensors\\n\"\n";
  for (size_t i = 0; i < design.parameters.size(); ++i)
    if (!isSolved(i))
      os << "    \"            --" << design.parameters[i].name
         << " N  (a size that no input decides)\\n\"\n";
  os << "    \"            [--design DIR] [--xclbin FILE] [--board N] "
        "[--timeout-ms N]\\n\"\n"
        "    \"  --design DIR    the design's folder (.)\\n\"\n"
        "    \"  --xclbin FILE   what the board runs (DIR/"
     << design.function
     << ".xclbin)\\n\"\n"
        "    \"  --board N       which board, as XRT counts them (0)\\n\"\n"
        "    \"  --timeout-ms N  longest time of the run, 0 for any "
        "(60000)\\n\";\n\n"
        "// Arguments of the kernel: how they lie in the memory of the "
        "board.\n\n";
}

void HostEmitter::emitLayout(size_t index) {
  const HostArgument &argument = design.arguments[index];
  os << "// " << argument.role << ", " << argument.dtype << " [";
  if (argument.dims.empty())
    llvm::interleaveComma(argument.shape, os);
  else
    llvm::interleaveComma(argument.dims, os);
  os << "]\nconst Layout " << layoutName(argument) << " = {\n    "
     << quoted(argument.name) << ", " << quoted(argument.dtype)
     << ",\n    /*elementBytes=*/" << argument.elementBytes
     << ",\n    /*bytes=*/" << argument.bytes << ",\n    /*memory=*/"
     << braces(argument.bufferShape) << ",\n    /*isPacked=*/"
     << (argument.packing ? "true" : "false");
  if (argument.packing) {
    const TokenOrder &order = *argument.packing;
    std::vector<std::string> map;
    for (const std::vector<unsigned> &loops : order.map)
      map.push_back(braces(loops));
    os << ",\n    {/*element=*/" << braces(order.elementShape())
       << ",\n     /*trips=*/" << braces(order.trips) << ",\n     /*steps=*/"
       << braces(order.steps) << ",\n     /*map=*/" << braces(map)
       << "},\n    /*packedShape=*/" << braces(argument.packedShape) << "};\n";
  } else {
    os << ",\n    {},\n    {}};\n";
  }
}

void HostEmitter::emitInputs() {
  os << "void runDesign(const Options &options) {\n"
        "  const std::string directory = options.get(\"design\", \".\");\n"
        "  const std::string inputsFile = options.required(\"inputs\");\n"
        "  const std::string outputsFile = options.required(\"outputs\");\n"
        "  const unsigned timeoutMs = options.number(\"timeout-ms\", 60000);\n"
        "  const unsigned board = options.number(\"board\", 0);\n\n"
        "  // Inputs, and what must be true of them.\n"
        "  const Tensors inputs = readSafetensors(inputsFile);\n"
        "  checkNames(inputs, {";
  std::vector<std::string> names;
  for (const HostArgument &argument : design.arguments)
    if (isInput(argument))
      names.push_back(quoted(argument.name));
  llvm::interleaveComma(names, os);
  os << "}, inputsFile);\n";
  for (const HostArgument &argument : design.arguments)
    if (isInput(argument))
      os << "  const Tensor &" << dataName(argument) << " = find(inputs, "
         << layoutName(argument) << ", inputsFile);\n";
  for (const Solution &solution : solutions) {
    const HostParameter &parameter = design.parameters[solution.parameter];
    std::string value = dataName(design.arguments[solution.argument]) +
                        ".shape[" + std::to_string(solution.dim) + "]";
    if (!solution.rest.isConstant(0))
      value += " - (" + spell(solution.rest) + ")";
    if (solution.factor != 1)
      value = "(" + value + ") / " + std::to_string(solution.factor);
    os << "  const int32_t n_" << parameter.name << " =\n      checkSize("
       << quoted(parameter.name) << ", " << value << ", " << parameter.smallest
       << ", " << parameter.largest << ");\n";
  }
  for (size_t i = 0; i < design.parameters.size(); ++i) {
    const HostParameter &parameter = design.parameters[i];
    if (!isSolved(i))
      os << "  const int32_t n_" << parameter.name << " =\n      checkSize("
         << quoted(parameter.name) << ", options.number("
         << quoted(parameter.name) << "), " << parameter.smallest << ", "
         << parameter.largest << ");\n";
  }
  for (size_t i = 0; i < design.arguments.size(); ++i) {
    const HostArgument &argument = design.arguments[i];
    if (isInput(argument))
      os << "  checkShape(" << layoutName(argument) << ", "
         << dataName(argument) << ", " << shapeText(i) << ");\n";
  }
  if (llvm::any_of(design.arguments, [](const HostArgument &argument) {
        return !argument.file.empty();
      }))
    os << "\n  // Packed weights, as the compiler wrote them.\n";
  for (const HostArgument &argument : design.arguments)
    if (!argument.file.empty())
      os << "  const std::vector<char> " << dataName(argument)
         << " =\n      readWeight(" << layoutName(argument) << ", directory + "
         << quoted("/" + argument.file) << ");\n";
}

void HostEmitter::emitBoard() {
  os << "\n  // The board, and memory on it for each argument.\n"
        "  xrt::device device = openBoard(board);\n"
        "  const xrt::kernel kernel = loadKernel(\n"
        "      device, options.get(\"xclbin\", directory + "
     << quoted("/" + design.function + ".xclbin") << "), "
     << quoted(design.function) << ",\n      " << quoted(design.kernelSha256)
     << ");\n";
  for (auto [index, argument] : llvm::enumerate(design.arguments))
    os << "  xrt::bo " << argument.variable
       << "_memory = allocate(device, kernel, " << index << ", "
       << layoutName(argument) << ");\n";
  for (const HostArgument &argument : design.arguments) {
    if (isInput(argument))
      os << "  upload(" << argument.variable << "_memory, toMemory("
         << layoutName(argument) << ", " << dataName(argument) << "));\n";
    else if (!argument.file.empty())
      os << "  upload(" << argument.variable << "_memory, "
         << dataName(argument) << ");\n";
  }
  os << "\n  // One run: memory in the order of the kernel's arguments, then "
        "sizes.\n"
        "  xrt::run run(kernel);\n";
  size_t index = 0;
  for (const HostArgument &argument : design.arguments)
    os << "  run.set_arg(" << index++ << ", " << argument.variable
       << "_memory);\n";
  for (const HostParameter &parameter : design.parameters)
    os << "  run.set_arg(" << index++ << ", n_" << parameter.name << ");\n";
  os << "  const double seconds = launch(run, timeoutMs);\n"
        "  std::cerr << \"host: run of \" << seconds * 1e3 << \" ms, with the "
        "launch\\n\";\n";
}

void HostEmitter::emitResults() {
  os << "\n  // Results.\n  Tensors outputs;\n";
  for (size_t i = 0; i < design.arguments.size(); ++i) {
    const HostArgument &argument = design.arguments[i];
    if (argument.role == "output")
      os << "  outputs[" << quoted(argument.name) << "] = fromMemory("
         << layoutName(argument) << ", " << shapeText(i) << ",\n      download("
         << argument.variable << "_memory, " << layoutName(argument) << "));\n";
  }
  os << "  writeSafetensors(outputsFile, outputs);\n"
        "}\n\n"
        "} // namespace\n\n"
        "int main(int argc, char **argv) {\n"
        "  return runProgram(kUsage, [&] {\n"
        "    runDesign(Options(argc, argv,\n"
        "                      {\"inputs\", \"outputs\", \"design\", "
        "\"xclbin\", \"board\", \"timeout-ms\"";
  for (size_t i = 0; i < design.parameters.size(); ++i)
    if (!isSolved(i))
      os << ", " << quoted(design.parameters[i].name);
  os << "}));\n"
        "  });\n"
        "}\n";
}

bool HostEmitter::emit(std::string &error) {
  if (!readSizes(error))
    return false;
  solveSizes();
  emitHeader();
  for (size_t i = 0; i < design.arguments.size(); ++i)
    emitLayout(i);
  os << "\n";
  emitInputs();
  emitBoard();
  emitResults();
  return true;
}

bool streamtensor::emitHost(const HostDesign &design, llvm::raw_ostream &os,
                            std::string &error) {
  return HostEmitter(design, os).emit(error);
}
