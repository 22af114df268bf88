//===- Words.h - Which tokens a shorter run keeps ------------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokens that pass one end of a FIFO, with those marked that a run at
// smaller values of the parameters keeps. docs/certificates.md, section
// "Words", says what they mean and why equal words suffice.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_WORDS_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_WORDS_H

#include "tools/streamtensor-check-certificate/Network.h"

namespace streamtensor::certificate {

struct Box;
struct Block;
/// One block after the other, in canonical form.
using Word = std::vector<Block>;

/// `count` tokens, or `count` copies of `body` if that is not empty. At values
/// v, of the count(M) tokens or copies the first count(v) are kept, or the last
/// ones. Not of constant blocks, which keep everything.
struct Block {
  Expression count;
  Word body;
  bool keepsLast = false;
};

bool operator==(const Block &a, const Block &b);
inline bool operator!=(const Block &a, const Block &b) { return !(a == b); }

/// The word of the tokens that `program` reads from or writes to `fifo` (by
/// `isRead`) at the values in `box`. Refuses programs with a condition that
/// holds for some iterations of a part of a loop, or at some values, only.
Word wordOf(const Sequence &program, unsigned fifo, bool isRead,
            const Box &box);

/// For messages: `past * 64 tokens, 12 x (seq tokens)`.
std::string spell(const Word &word);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_WORDS_H
