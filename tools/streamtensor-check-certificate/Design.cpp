//===- Design.cpp - The other files of a design ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernel is C++ of one shape, so its FIFOs are found without a compiler:
// comments and literals are blanked, then every use of ST_FIFO is read.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Design.h"

#include <cctype>
#include <regex>

using namespace streamtensor::certificate;

/// `text` with blanks for comments and literals; line breaks stay.
static std::string blankComments(const std::string &text) {
  std::string result = text;
  size_t at = 0;
  auto blankTo = [&](size_t end) {
    for (; at < std::min(end, text.size()); ++at)
      if (text[at] != '\n')
        result[at] = ' ';
  };
  while (at < text.size()) {
    if (text.compare(at, 2, "//") == 0) {
      const size_t end = text.find('\n', at);
      if (end != std::string::npos && end > 0 && text[end - 1] == '\\')
        throw Refusal("expected no comment that goes on behind a backslash");
      blankTo(end);
    } else if (text.compare(at, 2, "/*") == 0) {
      const size_t end = text.find("*/", at + 2);
      blankTo(end == std::string::npos ? end : end + 2);
    } else if (text[at] == '"' || text[at] == '\'') {
      if (at > 0 && text[at - 1] == 'R')
        throw Refusal("expected no raw string literals");
      const char quote = text[at];
      size_t end = at + 1;
      while (end < text.size() && text[end] != quote && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      blankTo(end == std::string::npos ? end : end + 1);
    } else {
      ++at;
    }
  }
  return result;
}

static bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

static std::string trimmed(const std::string &text) {
  const size_t first = text.find_first_not_of(" \n\t");
  if (first == std::string::npos)
    return "";
  return text.substr(first, text.find_last_not_of(" \n\t") - first + 1);
}

static void checkDirectives(const std::string &text) {
  static const std::regex directive("[ \t]*#[ \t]*([a-z_]*).*");
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line =
        text.substr(begin, std::min(end - begin, size_t(64)));
    std::smatch match;
    if (line.find('#') != std::string::npos &&
        std::regex_match(line, match, directive) && match[1] != "include" &&
        match[1] != "pragma")
      throw Refusal("expected no directives but #include and #pragma, because "
                    "they can change what a FIFO is, but got '" +
                    line + "'");
    begin = end + 1;
  }
}

/// A stream that is no reference is a FIFO of unknown depth.
static void checkStreams(const std::string &text) {
  for (size_t at = text.find("hls::stream"); at != std::string::npos;
       at = text.find("hls::stream", at + 1)) {
    size_t end = at + 11;
    if (end < text.size() && text[end] == '<') {
      int open = 0;
      do {
        open += (text[end] == '<') - (text[end] == '>');
        ++end;
      } while (end < text.size() && open > 0);
    }
    while (end < text.size() &&
           std::isspace(static_cast<unsigned char>(text[end])))
      ++end;
    if (end >= text.size() || text[end] != '&')
      throw Refusal("expected streams that are declared by ST_FIFO or "
                    "ST_FEEDBACK or passed by reference but got '" +
                    trimmed(text.substr(at, 60)) + "'");
  }
}

Depths streamtensor::certificate::fifosOfKernel(const std::string &source,
                                                const std::string &macro) {
  const std::string text = blankComments(source);
  checkDirectives(text);
  checkStreams(text);
  Depths depths;
  for (size_t at = text.find(macro); at != std::string::npos;
       at = text.find(macro, at + 1)) {
    const size_t open = at + macro.size();
    if ((at > 0 && isWord(text[at - 1])) ||
        (open < text.size() && isWord(text[open])))
      continue;
    const size_t close = text.find(");", open);
    const std::string inside =
        open < text.size() && text[open] == '(' && close != std::string::npos
            ? text.substr(open + 1, close - open - 1)
            : "";
    // A type may contain commas.
    const size_t last = inside.rfind(',');
    const size_t middle = last == std::string::npos || last == 0
                              ? std::string::npos
                              : inside.rfind(',', last - 1);
    static const std::regex word("[A-Za-z_][A-Za-z0-9_]*"),
        number("[1-9][0-9]{0,15}");
    std::string name, depth;
    if (middle != std::string::npos) {
      name = trimmed(inside.substr(middle + 1, last - middle - 1));
      depth = trimmed(inside.substr(last + 1));
    }
    if (!std::regex_match(name, word) || !std::regex_match(depth, number))
      throw Refusal("expected " + macro + "(type, name, depth); but got '" +
                    trimmed(text.substr(at, 60)) + "'");
    if (!depths.emplace(name, std::stoll(depth)).second)
      throw Refusal("expected FIFOs that differ but got '" + name + "' twice");
  }
  return depths;
}

Interface streamtensor::certificate::readInterface(const Json &document) {
  Object file(document, "interface");
  Interface result;
  file.integer("schema", 1, 1);
  if (file.find("kernel") && file.name("kernel") != "hls/kernel.cpp")
    throw Refusal("interface.kernel: expected 'hls/kernel.cpp'");
  result.kernelHash = file.name("kernel_sha256");
  result.parameters =
      readParameters(file.arrayOr("parameters"), "interface.parameters");
  size_t index = 0;
  for (const Json &value : file.array("fifos")) {
    Object item(value, "interface.fifos[" + std::to_string(index++) + "]");
    const std::string name = item.name("name");
    if (!result.depths.emplace(name, item.integer("depth", 1)).second)
      throw Refusal("interface.fifos: expected names that differ but got '" +
                    name + "' twice");
  }
  return result;
}
