//===- Sha256Test.cpp - SHA-256 against published vectors -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The example vectors that NIST publishes for FIPS 180-4, and pieces against
// the whole.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/Sha256.h"

#include "gtest/gtest.h"

#include <fstream>

using namespace streamtensor;

namespace {

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256Hex(""), "e3b0c44298fc1c149afbf4c8996fb924"
                           "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223"
                              "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(
      sha256Hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256Hex("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256Hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesEqualTheWhole) {
  // All lengths around the block size, in every two pieces.
  for (size_t size = 0; size < 140; ++size) {
    const std::string text(size, 'x');
    const std::string whole = sha256Hex(text);
    for (size_t cut = 0; cut <= size; ++cut) {
      Sha256 hash;
      hash.update(text.substr(0, cut));
      hash.hexDigest(); // asking in between changes nothing
      hash.update(text.substr(cut));
      ASSERT_EQ(hash.hexDigest(), whole) << size << " at " << cut;
    }
  }
}

TEST(Sha256, Files) {
  const std::string path = testing::TempDir() + "sha256-test.bin";
  std::ofstream(path, std::ios::binary) << std::string(1000000, 'a');
  std::string error;
  EXPECT_EQ(sha256HexOfFile(path, error),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  std::remove(path.c_str());
  EXPECT_FALSE(sha256HexOfFile(path, error));
  EXPECT_EQ(error, "cannot open '" + path + "': No such file or directory");
}

} // namespace
