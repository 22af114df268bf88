//===- XrtBuffer.cpp - A buffer on the host and on a board ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Coherence of copies. An xrt::bo has a side on the host and one on the board,
// which `sync` moves between; the side on the host is used as a staging area
// only, its contents never count.
//
//===----------------------------------------------------------------------===//

#include "runtime/XrtBuffer.h"

#include "runtime/Error.h"

#include <algorithm>
#include <cstring>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

/// Sizes of buffers, and what is moved at a time: boards without DMA of their
/// own copy in units of 64 bytes.
constexpr uint64_t kPage = 4096, kBlock = 64;

uint64_t roundUp(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The blocks around bytes [offset, offset + bytes).
struct Blocks {
  Blocks(uint64_t offset, uint64_t bytes)
      : begin(offset / kBlock * kBlock),
        bytes(roundUp(offset + bytes, kBlock) - begin),
        areExact(begin == offset && this->bytes == bytes) {}
  uint64_t begin, bytes;
  bool areExact;
};

} // namespace

void XrtPiece::write(uint64_t offset, const void *data, uint64_t count) {
  if (hostIsCurrent)
    std::memcpy(host + offset, data, count);
  const Blocks blocks(offset, count);
  for (auto &[group, copy] : copies) {
    if (!copy.isCurrent)
      continue;
    // Neighbours in the same block keep what the board has of them.
    if (!blocks.areExact)
      copy.buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE, blocks.bytes, blocks.begin);
    copy.buffer.write(data, count, offset);
    copy.buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE, blocks.bytes, blocks.begin);
  }
}

void XrtPiece::read(uint64_t offset, void *data, uint64_t count) {
  if (hostIsCurrent) {
    std::memcpy(data, host + offset, count);
    return;
  }
  const Blocks blocks(offset, count);
  xrt::bo &buffer = currentCopy().buffer;
  buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE, blocks.bytes, blocks.begin);
  buffer.read(data, count, offset);
}

void XrtPiece::fillZero() {
  std::memset(host, 0, bytes);
  hostIsCurrent = true;
  for (auto &[group, copy] : copies)
    copy.isCurrent = false;
}

XrtPiece::Copy &XrtPiece::currentCopy() {
  return std::find_if(copies.begin(), copies.end(),
                      [](const auto &entry) { return entry.second.isCurrent; })
      ->second;
}

void XrtPiece::pull() {
  if (hostIsCurrent)
    return;
  xrt::bo &buffer = currentCopy().buffer;
  buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
  buffer.read(host, bytes, 0);
  hostIsCurrent = true;
}

xrt::bo &XrtPiece::bind(const xrt::device &device, int group) {
  Copy &copy = copies[group];
  if (copy.isCurrent)
    return copy.buffer;
  if (!copy.buffer) {
    const uint64_t size = std::max(roundUp(bytes, kPage), kPage);
    try {
      copy.buffer = xrt::bo(device, size, xrt::bo::flags::normal,
                            static_cast<xrt::memory_group>(group));
    } catch (const std::exception &error) {
      copies.erase(group);
      throw Error("cannot allocate " + std::to_string(size) +
                  " bytes in memory bank " + std::to_string(group) +
                  " of the board: " + error.what() +
                  "; the bank is full or the executable is of another board");
    }
  }
  pull();
  if (bytes)
    copy.buffer.write(host, bytes, 0);
  copy.buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE);
  copy.isCurrent = true;
  return copy.buffer;
}

void XrtPiece::markWritten(int group) {
  hostIsCurrent = false;
  for (auto &[other, copy] : copies)
    copy.isCurrent = other == group;
}

XrtBuffer::XrtBuffer(MappedMemory mapped, uint64_t pieceBytes)
    : Buffer(mapped.bytes()), memory(std::move(mapped)),
      pieceBytes(pieceBytes) {
  uint64_t begin = 0;
  do {
    const uint64_t size = std::min(pieceBytes, bytes() - begin);
    pieces.emplace_back(memory.data() + begin, size);
    begin += size;
  } while (begin < bytes());
}

bool XrtBuffer::isInOnePiece(uint64_t offset, uint64_t bytes) const {
  return offset % pieceBytes + bytes <= pieceBytes;
}

XrtPiece &XrtBuffer::pieceAt(uint64_t &offset) const {
  // An empty view may stand at the end of the last piece.
  const size_t index =
      std::min<uint64_t>(offset / pieceBytes, pieces.size() - 1);
  offset -= index * pieceBytes;
  return pieces[index];
}

/// Calls fn(piece, offset in it, bytes done before, bytes) for each piece that
/// bytes [offset, offset + bytes) touch.
template <typename Fn>
static void forEachPart(const XrtBuffer &buffer, uint64_t pieceBytes,
                        uint64_t offset, uint64_t bytes, Fn &&fn) {
  for (uint64_t done = 0; done < bytes;) {
    uint64_t inside = offset + done;
    XrtPiece &piece = buffer.pieceAt(inside);
    const uint64_t count = std::min(bytes - done, pieceBytes - inside);
    fn(piece, inside, done, count);
    done += count;
  }
}

void XrtBuffer::write(uint64_t offset, const void *data, uint64_t bytes) {
  forEachPart(
      *this, pieceBytes, offset, bytes,
      [&](XrtPiece &piece, uint64_t inside, uint64_t done, uint64_t count) {
        piece.write(inside, static_cast<const char *>(data) + done, count);
      });
}

void XrtBuffer::read(uint64_t offset, void *data, uint64_t bytes) const {
  forEachPart(
      *this, pieceBytes, offset, bytes,
      [&](XrtPiece &piece, uint64_t inside, uint64_t done, uint64_t count) {
        piece.read(inside, static_cast<char *>(data) + done, count);
      });
}

void XrtBuffer::fillZero() {
  for (XrtPiece &piece : pieces)
    piece.fillZero();
}
