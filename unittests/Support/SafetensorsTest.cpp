//===- SafetensorsTest.cpp - Reading and writing safetensors --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files built by hand as the format describes them, everything that can be
// wrong with a header, and the writer's bytes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/Safetensors.h"
#include "streamtensor/Support/AtomicFile.h"

#include "gtest/gtest.h"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sys/resource.h>

using namespace streamtensor;

namespace {

/// A directory of its own for each test.
class Safetensors : public testing::Test {
protected:
  void SetUp() override {
    directory = testing::TempDir() + "safetensors-" +
                testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory);
    std::filesystem::create_directory(directory);
    path = directory + "/file.safetensors";
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  void writeRaw(const std::string &bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  /// Length, header and data as they are.
  void writeParts(const std::string &header, const std::string &data) {
    std::string length(8, '\0');
    for (int i = 0; i < 8; ++i)
      length[i] = static_cast<char>(uint64_t(header.size()) >> (8 * i));
    writeRaw(length + header + data);
  }
  /// The message of opening the file, without its common beginning.
  std::string openError() {
    std::string error;
    if (SafetensorsFile::open(path, error))
      return "";
    const std::string start =
        "'" + path + "' is not a valid safetensors file: ";
    return error.rfind(start, 0) == 0 ? error.substr(start.size()) : error;
  }
  std::string content() {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t filesInDirectory() {
    return std::distance(std::filesystem::directory_iterator(directory),
                         std::filesystem::directory_iterator());
  }

  std::string directory, path;
};

TEST_F(Safetensors, ReadsAFileWrittenByHand) {
  // b holds 1.0f and -2.0f: 0x3f800000, 0xc0000000, little endian. Its data
  // starts at an odd byte.
  writeParts(R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},)"
             R"("b":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]},)"
             R"("__metadata__":{"format":"pt"}, )"
             R"("s":{"dtype":"BF16","shape":[],"data_offsets":[11,13]},)"
             R"("z":{"dtype":"F64","shape":[4,0],"data_offsets":[13,13]}}   )",
             std::string("\1\2\377"
                         "\0\0\200\77\0\0\0\300"
                         "\200\77",
                         13));
  std::string error;
  const auto file = SafetensorsFile::open(path, error);
  ASSERT_TRUE(file) << error;
  EXPECT_EQ(file->tensors().size(), 4u);
  EXPECT_EQ(file->metadata().at("format"), "pt");
  EXPECT_EQ(file->find("c"), nullptr);
  const TensorView *a = file->find("a"), *b = file->find("b");
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->dtype, DType::I8);
  EXPECT_EQ(static_cast<const int8_t *>(a->data)[2], -1);
  float values[2];
  ASSERT_EQ(b->bytes, sizeof(values));
  std::memcpy(values, b->data, sizeof(values));
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], -2.0f);
  EXPECT_EQ(b->shape, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(file->find("s")->numElements(), 1);
  EXPECT_EQ(file->find("z")->bytes, 0u);
}

TEST_F(Safetensors, EveryDType) {
  const std::pair<const char *, size_t> expected[] = {
      {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"I64", 8},
      {"I32", 4}, {"I16", 2}, {"I8", 1},  {"U64", 8},  {"U32", 4},
      {"U16", 2}, {"U8", 1},  {"BOOL", 1}};
  for (const auto &[name, bytes] : expected) {
    const auto dtype = parseDType(name);
    ASSERT_TRUE(dtype) << name;
    EXPECT_STREQ(dtypeName(*dtype), name);
    EXPECT_EQ(dtypeBytes(*dtype), bytes);
  }
  EXPECT_FALSE(parseDType("f32"));
}

TEST_F(Safetensors, FileErrors) {
  EXPECT_EQ(openError(),
            "cannot open '" + path + "': No such file or directory");
  path = directory;
  EXPECT_EQ(openError(), "cannot read '" + path + "': Is a directory");
}

TEST_F(Safetensors, HeaderErrors) {
  const auto raw = [&](const std::string &bytes) {
    writeRaw(bytes);
    return openError();
  };
  EXPECT_EQ(raw(""), "expected at least 8 bytes but got 0");
  EXPECT_EQ(raw("abc"), "expected at least 8 bytes but got 3");
  EXPECT_EQ(raw(std::string("\20\0\0\0\0\0\0\0{}", 10)),
            "the header would have 16 bytes but the file has only 2 after its "
            "length");
  EXPECT_EQ(raw(std::string(8, '\377')),
            "the header would have 18446744073709551615 bytes, more than "
            "100000000");
  const auto header = [&](const std::string &text, const std::string &data) {
    writeParts(text, data);
    return openError();
  };
  EXPECT_NE(header("{", "").find("the header is not valid JSON: "),
            std::string::npos);
  EXPECT_NE(header("", "").find("the header is not valid JSON: "),
            std::string::npos);
  EXPECT_NE(header("{\"\377\": 1}", "").find("the header is not valid JSON: "),
            std::string::npos);
  EXPECT_EQ(header("[1]", ""), "expected the header to be a JSON object");
  EXPECT_EQ(header(R"({"a": 1})", ""),
            "expected an object for tensor 'a' but got 1");
  EXPECT_EQ(header(R"({"__metadata__": {"a": 1}})", ""),
            "expected text for 'a' of '__metadata__' but got 1");
  EXPECT_EQ(header(R"({"a":{"dtype":"I8","shape":[],"data_offsets":[0,1]},)"
                   R"("a":{"dtype":"I8","shape":[],"data_offsets":[0,1]}})",
                   "x"),
            "the header has the key 'a' twice");
  EXPECT_EQ(header("{}", ""), "");
}

TEST_F(Safetensors, TensorErrors) {
  const auto tensor = [&](const std::string &fields, size_t dataBytes) {
    writeParts("{\"a\": {" + fields + "}}", std::string(dataBytes, 'x'));
    return openError();
  };
  EXPECT_EQ(tensor(R"("shape":[],"data_offsets":[0,1])", 1),
            "tensor 'a' has no 'dtype'");
  EXPECT_EQ(tensor(R"("dtype":"F8","shape":[],"data_offsets":[0,1])", 1),
            "tensor 'a' has the dtype \"F8\", expected one of F64, F32, F16, "
            "BF16, I64, I32, I16, I8, U64, U32, U16, U8, BOOL");
  EXPECT_EQ(tensor(R"("dtype":8,"shape":[],"data_offsets":[0,1])", 1)
                .find("tensor 'a' has the dtype 8"),
            0u);
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":3,"data_offsets":[0,3])", 3),
            "expected a list in 'shape' of tensor 'a' but got 3");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[-1],"data_offsets":[0,3])", 3),
            "expected non-negative integers in 'shape' of tensor 'a' but got "
            "-1");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[1.5],"data_offsets":[0,3])", 3),
            "expected non-negative integers in 'shape' of tensor 'a' but got "
            "1.5");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[3],"data_offsets":[0])", 3),
            "expected two numbers in 'data_offsets' of tensor 'a' but got [0]");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[4],"data_offsets":[0,4])", 3),
            "the data of tensor 'a' at [0,4] lies outside of the 3 bytes of "
            "data: the file is truncated or corrupt");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[1],"data_offsets":[2,1])", 3),
            "the data of tensor 'a' at [2,1] lies outside of the 3 bytes of "
            "data: the file is truncated or corrupt");
  EXPECT_EQ(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,4])", 4),
            "expected 8 bytes for tensor 'a' of shape [2] and dtype F32 but "
            "got 4");
  // 2^62 x 2^62 overflows; it must not wrap around to the 0 bytes there are.
  EXPECT_EQ(tensor(R"("dtype":"F32","shape":[4611686018427387904,)"
                   R"(4611686018427387904],"data_offsets":[0,0])",
                   0),
            "expected too many bytes for tensor 'a' of shape "
            "[4611686018427387904,4611686018427387904] and dtype F32 but got "
            "0");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[3],"data_offsets":[0,3],"x":1)", 3),
            "tensor 'a' has the unknown key 'x'");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[2],"data_offsets":[0,2])", 3),
            "1 bytes after the last tensor belong to no tensor");
  EXPECT_EQ(tensor(R"("dtype":"I8","shape":[2],"data_offsets":[1,3])", 3),
            "bytes 0 to 1 of the data belong to no tensor");
}

TEST_F(Safetensors, OverlapIsRefused) {
  writeParts(R"({"a":{"dtype":"I8","shape":[3],"data_offsets":[0,3]},)"
             R"("b":{"dtype":"I8","shape":[2],"data_offsets":[2,4]}})",
             "xxxx");
  EXPECT_EQ(openError(), "the data of tensors 'a' and 'b' overlap");
}

TEST_F(Safetensors, WritesTheDocumentedBytes) {
  const int8_t bytes[] = {1, 2, 3};
  const float number = 1.0f;
  std::string error;
  ASSERT_TRUE(writeSafetensors(
      path,
      {{"a", {DType::I8, {3}, bytes, 3}}, {"b", {DType::F32, {}, &number, 4}}},
      error, {{"made_by", "test"}}))
      << error;
  // Larger elements first; the header is padded with spaces to 8 bytes.
  std::string header =
      R"({"__metadata__":{"made_by":"test"},)"
      R"("b":{"dtype":"F32","shape":[],"data_offsets":[0,4]},)"
      R"("a":{"dtype":"I8","shape":[3],"data_offsets":[4,7]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string expected(8, '\0');
  expected[0] = static_cast<char>(header.size());
  expected += header + std::string("\0\0\200\77\1\2\3", 7);
  EXPECT_EQ(content(), expected);
  EXPECT_EQ(filesInDirectory(), 1u);
}

TEST_F(Safetensors, WritesWhatItReads) {
  std::vector<int16_t> values(1000);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int16_t>(i * 37);
  const TensorMap tensors = {{"empty", {DType::F64, {0, 7}, nullptr, 0}},
                             {"model.layers.0.\"weird\"\n\303\244",
                              {DType::I16, {10, 100}, values.data(), 2000}}};
  std::string error;
  ASSERT_TRUE(writeSafetensors(path, tensors, error)) << error;
  const std::string first = content();
  {
    const auto file = SafetensorsFile::open(path, error);
    ASSERT_TRUE(file) << error;
    ASSERT_EQ(file->tensors().size(), 2u);
    for (const auto &[name, view] : tensors) {
      const TensorView *read = file->find(name);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->dtype, view.dtype);
      EXPECT_EQ(read->shape, view.shape);
      ASSERT_EQ(read->bytes, view.bytes);
      EXPECT_TRUE(view.bytes == 0 ||
                  std::memcmp(read->data, view.data, view.bytes) == 0);
    }
    // The open file may be replaced by what was read from it.
    ASSERT_TRUE(writeSafetensors(path, file->tensors(), error)) << error;
  }
  EXPECT_EQ(content(), first);
}

TEST_F(Safetensors, MovedFilesKeepTheirViews) {
  const float number = 2.0f;
  std::string error;
  ASSERT_TRUE(
      writeSafetensors(path, {{"a", {DType::F32, {1}, &number, 4}}}, error));
  auto file = SafetensorsFile::open(path, error);
  const TensorView *view = file->find("a");
  SafetensorsFile moved = std::move(*file);
  file.reset();
  EXPECT_EQ(std::memcmp(moved.find("a")->data, &number, 4), 0);
  EXPECT_EQ(view->data, moved.find("a")->data);
}

TEST_F(Safetensors, WriterErrors) {
  const float number = 1.0f;
  std::string error;
  const auto message = [&](const std::string &name, const TensorView &view) {
    EXPECT_FALSE(writeSafetensors(path, {{name, view}}, error));
    EXPECT_EQ(filesInDirectory(), 0u);
    const std::string start = "cannot write '" + path + "': ";
    EXPECT_EQ(error.rfind(start, 0), 0u) << error;
    return error.substr(std::min(start.size(), error.size()));
  };
  EXPECT_EQ(message("a", {DType::F32, {2}, &number, 4}),
            "expected 8 bytes for tensor 'a' but got 4");
  EXPECT_EQ(message("a", {DType::F32, {-1}, &number, 4}),
            "tensor 'a' has a negative size");
  EXPECT_EQ(message("__metadata__", {DType::F32, {}, &number, 4}),
            "a tensor may not be called '__metadata__'");
  EXPECT_EQ(
      message("\377", {DType::F32, {}, &number, 4}).find("a name is not valid"),
      0u);
  path = directory + "/missing/file.safetensors";
  EXPECT_FALSE(writeSafetensors(path, {}, error));
  EXPECT_EQ(error, "cannot create '" + path + "': No such file or directory");
}

/// A file size limit stands for a full disk: the write fails half way.
TEST_F(Safetensors, AFullDiskLeavesNothingBehind) {
  const std::vector<char> data(1 << 20);
  std::string error;
  rlimit old;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &old), 0);
  const rlimit small{1 << 16, old.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const bool written = writeSafetensors(
      path, {{"a", {DType::U8, {1 << 20}, data.data(), 1 << 20}}}, error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &old), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(written);
  EXPECT_EQ(error, "cannot write '" + path + "': File too large");
  EXPECT_EQ(filesInDirectory(), 0u);
}

TEST_F(Safetensors, AnAbandonedFileLeavesTheOldOne) {
  std::string error;
  ASSERT_TRUE(writeFileAtomically(path, "old", error)) << error;
  {
    AtomicFile file;
    ASSERT_TRUE(file.open(path, error)) << error;
    ASSERT_TRUE(file.write("new", 3, error)) << error;
    EXPECT_EQ(content(), "old");
  }
  EXPECT_EQ(content(), "old");
  EXPECT_EQ(filesInDirectory(), 1u);
  ASSERT_TRUE(writeFileAtomically(path, "new", error)) << error;
  EXPECT_EQ(content(), "new");
}

/// Random damage to a good file: always an error or a consistent file.
TEST_F(Safetensors, DamagedHeadersNeverCrash) {
  const std::vector<char> data(64, 1);
  std::string error;
  ASSERT_TRUE(writeSafetensors(path,
                               {{"a", {DType::I32, {2, 3}, data.data(), 24}},
                                {"b", {DType::U8, {40}, data.data(), 40}}},
                               error));
  const std::string good = content();
  uint64_t state = 1;
  for (int i = 0; i < 400; ++i) {
    std::string bad = good;
    for (int change = 0; change < 2; ++change) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      bad[(state >> 33) % bad.size()] = static_cast<char>(state >> 56);
    }
    bad.resize(bad.size() - (state >> 20) % 4);
    writeRaw(bad);
    const auto file = SafetensorsFile::open(path, error);
    if (!file)
      continue;
    for (const auto &[name, view] : file->tensors())
      ASSERT_EQ(view.bytes, view.numElements() * dtypeBytes(view.dtype));
  }
}

} // namespace
