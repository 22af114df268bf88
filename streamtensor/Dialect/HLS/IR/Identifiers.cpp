//===- Identifiers.cpp - Names that C++ and HLS tools accept --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reserved words, and how a name is bent around them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/HLS/IR/Identifiers.h"

#include "llvm/ADT/StringExtras.h"

using namespace streamtensor::hls;
using llvm::StringRef;

/// Keywords of C++ up to C++20, names of the headers that a kernel includes,
/// and functions of the C library (the top function has C linkage, so it must
/// not be called like one of them).
static const llvm::StringSet<> &reservedWords() {
  static const llvm::StringSet<> words = {
      // clang-format off
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor",
      "bool", "break", "case", "catch", "char", "char8_t", "char16_t",
      "char32_t", "class", "co_await", "co_return", "co_yield", "compl",
      "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
      "continue", "decltype", "default", "delete", "do", "double",
      "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
      "float", "for", "friend", "goto", "if", "inline", "int", "long",
      "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "register",
      "reinterpret_cast", "requires", "restrict", "return", "short", "signed",
      "sizeof", "static", "static_assert", "static_cast", "struct", "switch",
      "template", "this", "thread_local", "throw", "true", "try", "typedef",
      "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
      "volatile", "wchar_t", "while", "xor", "xor_eq",
      "hls", "st", "std", "main", "INFINITY", "NAN", "HUGE_VAL", "HUGE_VALF",
      "NULL", "EOF", "assert", "errno", "unix", "linux", "signgam",
      "abort", "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2",
      "atanh", "bind", "cbrt", "ceil", "close", "copysign", "cos", "cosh",
      "div", "drem", "erf", "erfc", "exit", "exp", "exp2", "expm1", "fabs",
      "floor", "fma", "fmax", "fmin", "fmod", "free", "frexp", "gamma",
      "hypot", "index", "isinf", "isnan", "j0", "j1", "jn", "labs", "ldexp",
      "lgamma", "link", "llabs", "log", "log10", "log1p", "log2", "logb",
      "lrint", "lround", "malloc", "memcpy", "memset", "modf", "nan",
      "nearbyint", "nextafter", "open", "pipe", "pow", "printf", "puts",
      "qsort", "rand", "random", "read", "remainder", "remove", "remquo",
      "rename", "rint", "rindex", "round", "scalb", "select", "signal",
      "significand", "sin", "sinh", "sleep", "sqrt", "srand", "strlen",
      "system", "tan", "tanh", "tgamma", "time", "trunc", "write", "y0", "y1",
      "yn"
      // clang-format on
  };
  return words;
}

bool streamtensor::hls::isIdentifier(StringRef name) {
  if (name.empty() || !llvm::isAlpha(name.front()) || name.contains("__") ||
      reservedWords().contains(name) || name.contains_insensitive("fifo"))
    return false;
  return llvm::all_of(name,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

std::string streamtensor::hls::makeIdentifier(StringRef name) {
  std::string result;
  for (char c : name) {
    char next = llvm::isAlnum(c) ? c : '_';
    if (next == '_' && (result.empty() || result.back() == '_'))
      continue;
    result += next;
  }
  for (size_t at;
       (at = StringRef(result).find_insensitive("fifo")) != StringRef::npos;)
    result.replace(at, 4, "queue");
  if (result.empty() || !llvm::isAlpha(result.front()))
    result = "v" + result;
  if (reservedWords().contains(result))
    result += '_';
  return result;
}

std::string UniqueIdentifiers::get(StringRef name) {
  std::string base = makeIdentifier(name);
  if (taken.insert(base).second)
    return base;
  if (base.back() != '_')
    base += '_';
  for (unsigned number = 1;; ++number) {
    std::string candidate = base + std::to_string(number);
    if (taken.insert(candidate).second)
      return candidate;
  }
}
