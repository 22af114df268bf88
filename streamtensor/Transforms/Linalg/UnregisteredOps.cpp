//===- UnregisteredOps.cpp - Operations of dialects we do not have --------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Scans the text of a module for operations of unknown dialects. Their custom
// syntax cannot be parsed, so this looks at words, strings and comments only.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace streamtensor {
namespace {

/// Dialects whose operations parse, or end in a better message of the parser.
bool isKnownDialect(StringRef dialect) {
  static constexpr StringLiteral known[] = {
      "affine",   "arith",  "bufferization", "builtin",    "cf",      "complex",
      "dataflow", "func",   "hls",           "index",      "itensor", "linalg",
      "llvm",     "math",   "memref",        "ml_program", "scf",     "st",
      "stream",   "tensor", "tosa",          "vector"};
  return is_contained(known, dialect);
}

/// What the author of a model can do instead of the operation `name`.
StringRef getAdvice(StringRef name) {
  return StringSwitch<StringRef>(name)
      .Case("tm_tensor.scan",
            "avoid cumsum (pass a 4-D mask and the positions as inputs), or "
            "export with streamtensor's decompositions")
      .Cases({"tm_tensor.sort", "tm_tensor.topk"},
             "sort and sample on the host")
      .Case("tm_tensor.scatter",
            "return new rows instead of writing them into a tensor by index")
      .Case("tm_tensor.attention", "export with attn_implementation=\"eager\"")
      .Default("rewrite this line of the model with supported operations, or "
               "leave it to the host");
}

/// An operation found in the text.
struct Found {
  std::string name;
  unsigned line;     // of the text, from 1
  std::string where; // `model.py:12`, or empty
};

class Scanner {
public:
  explicit Scanner(StringRef text) : text(text) { collectLocations(); }
  SmallVector<Found> run();

private:
  /// Fills `locations`: `#loc5` -> `"model.py":12:3` or another alias.
  void collectLocations();
  /// Appends the `file:line`s in the text of a location, following aliases.
  void collectFrames(StringRef location, SmallVectorImpl<std::string> &frames,
                     unsigned depth = 0) const;
  /// The location at the end of the statement that starts at `begin`.
  std::string findLocation(size_t begin) const;
  /// The end of the string literal or comment at `pos`, or `pos`.
  size_t skip(size_t pos) const;

  StringRef text;
  StringMap<std::string> locations;
};

void Scanner::collectLocations() {
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    if (line.starts_with("#loc")) {
      auto [alias, value] = line.split('=');
      locations[alias.trim()] = value.trim().str();
    }
}

void Scanner::collectFrames(StringRef location,
                            SmallVectorImpl<std::string> &frames,
                            unsigned depth) const {
  static constexpr unsigned kDeepest = 16;
  Regex frame("\"([^\"]+)\":([0-9]+):[0-9]+|#loc[0-9]*");
  SmallVector<StringRef> match;
  while (depth < kDeepest && frame.match(location, &match)) {
    if (!match[1].empty())
      frames.push_back((match[1] + ":" + match[2]).str());
    else if (auto alias = locations.find(match[0]); alias != locations.end())
      collectFrames(alias->second, frames, depth + 1);
    location = location.drop_front(match[0].end() - location.begin());
  }
}

size_t Scanner::skip(size_t pos) const {
  if (text.substr(pos).starts_with("//")) {
    size_t end = text.find('\n', pos);
    return end == StringRef::npos ? text.size() : end;
  }
  if (text[pos] != '"')
    return pos;
  for (++pos; pos < text.size() && text[pos] != '"'; ++pos)
    if (text[pos] == '\\')
      ++pos;
  return std::min(pos + 1, text.size());
}

std::string Scanner::findLocation(size_t begin) const {
  int depth = 0;
  for (size_t pos = begin; pos < text.size(); ++pos) {
    if (size_t end = skip(pos); end != pos) {
      pos = end - 1;
      continue;
    }
    if (depth == 0 && text.substr(pos).starts_with("loc(")) {
      SmallVector<std::string> frames;
      collectFrames(text.slice(pos, text.find('\n', pos)), frames);
      auto *frame = find_if_not(frames, isLibraryFrame);
      if (frame == frames.end())
        frame = frames.begin();
      return frames.empty() ? "" : *frame;
    }
    if (is_contained(StringRef("({["), text[pos]))
      ++depth;
    else if (is_contained(StringRef(")}]"), text[pos]))
      --depth;
    if (depth < 0 || (depth == 0 && text[pos] == '\n'))
      return "";
  }
  return "";
}

SmallVector<Found> Scanner::run() {
  SmallVector<Found> found;
  unsigned line = 1;
  // An operation's name stands at the start of a statement: first on its line,
  // or behind the equals sign of its results.
  bool atStart = true;
  for (size_t pos = 0; pos < text.size(); ++pos) {
    char c = text[pos];
    if (c == '\n') {
      ++line;
      atStart = true;
      continue;
    }
    if (isSpace(c))
      continue;
    size_t end = skip(pos);
    bool quoted = c == '"';
    if (end != pos && !quoted) {
      pos = end - 1;
      continue;
    }
    if (!quoted && !isAlpha(c) && c != '_') {
      // `%0:2, %1 =` keeps the start open; everything else closes it.
      if (c == '%' || c == '#')
        while (pos + 1 < text.size() &&
               (isAlnum(text[pos + 1]) ||
                is_contained(StringRef("_:$."), text[pos + 1])))
          ++pos;
      else if (c != '=' && c != ',')
        atStart = false;
      if (c == '=')
        atStart = true;
      if (c == '#')
        atStart = false;
      continue;
    }
    if (!quoted)
      for (end = pos;
           end < text.size() && (isAlnum(text[end]) || text[end] == '_' ||
                                 text[end] == '.' || text[end] == '$');)
        ++end;
    StringRef word = text.slice(pos, end);
    if (quoted)
      word = text.substr(end).starts_with("(") ? word.drop_front().drop_back()
                                               : StringRef();
    auto [dialect, name] = word.split('.');
    if (atStart && !name.empty() && !isKnownDialect(dialect))
      found.push_back({word.str(), line, findLocation(pos)});
    line += text.slice(pos, end).count('\n');
    atStart = false;
    pos = end - 1;
  }
  return found;
}

} // namespace

std::optional<std::string> findUnregisteredOps(StringRef text) {
  SmallVector<Found> found = Scanner(text).run();
  // The terminators of regions only repeat the operation around them.
  erase_if(found, [](const Found &op) {
    return StringRef(op.name).ends_with(".yield");
  });
  if (found.empty())
    return std::nullopt;
  std::string message;
  raw_string_ostream stream(message);
  stream << found.size() << (found.size() == 1 ? " operation" : " operations")
         << " of dialects that the compiler does not have:";
  for (const Found &op : found) {
    stream << "\n  unsupported operation '" << op.name << "'";
    if (!op.where.empty())
      stream << " at " << op.where;
    stream << " (line " << op.line << " of the text): torch-mlir could not "
           << "lower it to Linalg; " << getAdvice(op.name);
  }
  return message;
}

} // namespace streamtensor
