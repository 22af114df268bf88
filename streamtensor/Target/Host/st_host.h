//===- st_host.h - Tensors of a host program --------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the host program of a design (main.cpp beside this file) needs besides
// XRT: safetensors files, the layout of tensors in the board's memory, buffers
// of XRT, options. Standard C++17, no other library.
//
// Every function throws std::runtime_error with a complete text.
//
//===----------------------------------------------------------------------===//

#ifndef ST_HOST_H
#define ST_HOST_H

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <xrt/xrt_bo.h>
#include <xrt/xrt_device.h>
#include <xrt/xrt_kernel.h>

namespace st_host {

using Shape = std::vector<int64_t>;

[[noreturn]] inline void fail(const std::string &text) {
  throw std::runtime_error(text);
}

/// `numerator` / `divisor`, rounded up.
inline int64_t ceildiv(int64_t numerator, int64_t divisor) {
  return (numerator + divisor - 1) / divisor;
}

inline int64_t elements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

/// "[2, 3]"
inline std::string spell(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

/// A row-major tensor; `dtype` as in safetensors.
struct Tensor {
  std::string dtype;
  Shape shape;
  std::vector<char> data;
};
using Tensors = std::map<std::string, Tensor>;

inline std::vector<char> readFile(const std::string &path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file ? std::streamoff(file.tellg()) : -1;
  std::vector<char> data(size < 0 ? 0 : static_cast<size_t>(size));
  if (size < 0 || !file.seekg(0) || !file.read(data.data(), size))
    fail("cannot read '" + path + "': " + std::strerror(errno ? errno : EIO));
  return data;
}

/// Reads the header of a safetensors file: objects, lists, strings and natural
/// numbers.
class JsonReader {
public:
  JsonReader(std::string text, std::string path)
      : text(std::move(text)), path(std::move(path)) {}

  /// Whether `character` comes next; it is passed then.
  bool accept(char character) {
    skipSpace();
    if (place >= text.size() || text[place] != character)
      return false;
    ++place;
    return true;
  }
  void expect(char character) {
    if (!accept(character))
      fail(std::string("expected '") + character + "'");
  }
  std::string string() {
    expect('"');
    std::string value;
    while (place < text.size() && text[place] != '"') {
      if (text[place] == '\\')
        ++place;
      if (place < text.size())
        value += text[place++];
    }
    expect('"');
    return value;
  }
  int64_t number() {
    skipSpace();
    const size_t begin = place;
    while (place < text.size() && text[place] >= '0' && text[place] <= '9')
      ++place;
    if (place == begin || place - begin > 18)
      fail("expected a number");
    return std::stoll(text.substr(begin, place - begin));
  }
  std::vector<int64_t> numbers() {
    std::vector<int64_t> values;
    expect('[');
    if (accept(']'))
      return values;
    do
      values.push_back(number());
    while (accept(','));
    expect(']');
    return values;
  }
  /// Calls fn(key) before each value of an object.
  template <typename Fn>
  void object(Fn &&fn) {
    expect('{');
    if (accept('}'))
      return;
    do {
      const std::string key = string();
      expect(':');
      fn(key);
    } while (accept(','));
    expect('}');
  }
  [[noreturn]] void fail(const std::string &what) const {
    st_host::fail("'" + path + "' is no safetensors file: " + what +
                  " at byte " + std::to_string(place) + " of its header");
  }

private:
  void skipSpace() {
    while (place < text.size() && std::strchr(" \t\r\n", text[place]))
      ++place;
  }

  std::string text, path;
  size_t place = 0;
};

/// All tensors of a safetensors file.
inline Tensors readSafetensors(const std::string &path) {
  const std::vector<char> file = readFile(path);
  uint64_t headerBytes = 0;
  if (file.size() >= 8)
    std::memcpy(&headerBytes, file.data(), 8);
  if (file.size() < 8 || headerBytes > file.size() - 8)
    fail("'" + path + "' is no safetensors file: it has " +
         std::to_string(file.size()) + " bytes");
  const char *data = file.data() + 8 + headerBytes;
  const int64_t dataBytes = static_cast<int64_t>(file.size() - 8 - headerBytes);
  JsonReader json(std::string(file.data() + 8, headerBytes), path);
  Tensors tensors;
  json.object([&](const std::string &name) {
    if (name == "__metadata__")
      return json.object([&](const std::string &) { json.string(); });
    Tensor tensor;
    std::vector<int64_t> offsets;
    json.object([&](const std::string &key) {
      if (key == "dtype")
        tensor.dtype = json.string();
      else if (key == "shape")
        tensor.shape = json.numbers();
      else if (key == "data_offsets")
        offsets = json.numbers();
      else
        json.fail("unexpected '" + key + "'");
    });
    if (offsets.size() != 2 || offsets[0] > offsets[1] ||
        offsets[1] > dataBytes)
      json.fail("'" + name + "' lies outside of the file");
    tensor.data.assign(data + offsets[0], data + offsets[1]);
    tensors[name] = std::move(tensor);
  });
  return tensors;
}

/// Writes a temporary file first, so that `path` is never half-written.
inline void writeSafetensors(const std::string &path, const Tensors &tensors) {
  std::string header = "{";
  size_t offset = 0;
  for (const auto &[name, tensor] : tensors) {
    header += header.size() > 1 ? "," : "";
    header += "\"" + name + "\":{\"dtype\":\"" + tensor.dtype +
              "\",\"shape\":" + spell(tensor.shape) + ",\"data_offsets\":[" +
              std::to_string(offset) + "," +
              std::to_string(offset + tensor.data.size()) + "]}";
    offset += tensor.data.size();
  }
  header += "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const std::string temporary = path + ".tmp";
  errno = 0;
  std::ofstream file(temporary, std::ios::binary);
  const uint64_t headerBytes = header.size();
  file.write(reinterpret_cast<const char *>(&headerBytes), 8);
  file << header;
  for (const auto &entry : tensors)
    file.write(entry.second.data.data(),
               static_cast<std::streamsize>(entry.second.data.size()));
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno ? errno : EIO;
    std::remove(temporary.c_str());
    fail("cannot write '" + path + "': " + std::strerror(error));
  }
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The order in which memory holds a tensor: nested loops, the first one
/// outermost, give the position of one token after the other; the elements of a
/// token are row-major. `map` names the loops that are summed up for each
/// dimension. No loops and no dimensions: row-major.
struct Packing {
  Shape element, trips, steps;
  std::vector<std::vector<unsigned>> map;
};

/// How an argument lies in the memory of the board.
struct Layout {
  std::string name, dtype;
  size_t elementBytes;
  size_t bytes; ///< of the memory
  Shape memory; ///< the largest tensor; a smaller one lies in its corner
  bool isPacked;
  Packing packing; ///< over `packedShape`: the same elements as `memory`
  Shape packedShape;
};

/// Calls fn(offset in the tensor, offset in the larger one, count), in
/// elements, for each row of a tensor in the corner of a larger one.
template <typename Fn>
void forEachRow(const Shape &shape, const Shape &memory, Fn &&fn) {
  const int64_t row = shape.empty() ? 1 : shape.back();
  const int64_t count = elements(shape);
  for (int64_t begin = 0; begin < count; begin += row) {
    int64_t rest = begin / row, stride = memory.empty() ? 1 : memory.back();
    int64_t offset = 0;
    for (size_t d = shape.size(); d-- > 1;) {
      offset += rest % shape[d - 1] * stride;
      rest /= shape[d - 1];
      stride *= memory[d - 1];
    }
    fn(begin, offset, row);
  }
}

/// Adds one to a number whose digits count to `limits`, the last one fastest;
/// false after the largest one.
inline bool next(Shape &digits, const Shape &limits) {
  for (size_t i = digits.size(); i-- > 0; digits[i] = 0)
    if (++digits[i] < limits[i])
      return true;
  return false;
}

/// Calls fn(element in memory, element in the row-major tensor) for each place
/// of packed memory that holds an element; the others are padding.
template <typename Fn>
void forEachPacked(const Layout &layout, Fn &&fn) {
  const Packing &packing = layout.packing;
  for (int64_t trips : packing.trips)
    if (trips == 0)
      return;
  Shape loops(packing.trips.size(), 0);
  int64_t place = 0;
  do {
    Shape token(packing.element.size(), 0);
    do {
      int64_t index = 0;
      bool isInside = true;
      for (size_t d = 0; d < token.size(); ++d) {
        int64_t position = token[d];
        for (unsigned loop : packing.map[d])
          position += loops[loop] * packing.steps[loop];
        isInside = isInside && position < layout.packedShape[d];
        index = index * layout.packedShape[d] + position;
      }
      if (isInside)
        fn(place, index);
      ++place;
    } while (next(token, packing.element));
  } while (next(loops, packing.trips));
}

/// What the board's memory holds of a row-major tensor.
inline std::vector<char> toMemory(const Layout &layout, const Tensor &tensor) {
  const size_t size = layout.elementBytes;
  std::vector<char> largest(elements(layout.memory) * size);
  forEachRow(tensor.shape, layout.memory,
             [&](int64_t from, int64_t to, int64_t count) {
               std::memcpy(largest.data() + to * size,
                           tensor.data.data() + from * size, count * size);
             });
  if (!layout.isPacked)
    return largest;
  std::vector<char> packed(layout.bytes);
  forEachPacked(layout, [&](int64_t to, int64_t from) {
    std::memcpy(packed.data() + to * size, largest.data() + from * size, size);
  });
  return packed;
}

/// The row-major tensor of `shape` in the board's memory.
inline Tensor fromMemory(const Layout &layout, const Shape &shape,
                         std::vector<char> memory) {
  const size_t size = layout.elementBytes;
  if (layout.isPacked) {
    std::vector<char> largest(elements(layout.memory) * size);
    forEachPacked(layout, [&](int64_t from, int64_t to) {
      std::memcpy(largest.data() + to * size, memory.data() + from * size,
                  size);
    });
    memory = std::move(largest);
  }
  Tensor tensor{layout.dtype, shape, std::vector<char>(elements(shape) * size)};
  forEachRow(shape, layout.memory,
             [&](int64_t to, int64_t from, int64_t count) {
               std::memcpy(tensor.data.data() + to * size,
                           memory.data() + from * size, count * size);
             });
  return tensor;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The tensor of an argument, with this many dimensions.
inline const Tensor &find(const Tensors &tensors, const Layout &layout,
                          const std::string &file) {
  const auto entry = tensors.find(layout.name);
  if (entry == tensors.end())
    fail("'" + file + "' has no tensor '" + layout.name + "'");
  const Tensor &tensor = entry->second;
  if (tensor.dtype != layout.dtype ||
      tensor.shape.size() != layout.memory.size())
    fail("'" + layout.name + "' in '" + file + "': expected " + layout.dtype +
         " with " + std::to_string(layout.memory.size()) +
         " dimensions but got " + tensor.dtype + " " + spell(tensor.shape));
  return tensor;
}

/// Refuses a tensor of another shape, or with less data than its shape says.
inline void checkShape(const Layout &layout, const Tensor &tensor,
                       const Shape &expected) {
  if (tensor.shape != expected)
    fail("'" + layout.name + "': expected " + layout.dtype + " " +
         spell(expected) + " but got " + spell(tensor.shape));
  const size_t bytes = elements(expected) * layout.elementBytes;
  if (tensor.data.size() != bytes)
    fail("'" + layout.name + "': expected " + std::to_string(bytes) +
         " bytes but got " + std::to_string(tensor.data.size()));
}

/// Refuses tensors that are no argument.
inline void checkNames(const Tensors &tensors,
                       const std::vector<std::string> &names,
                       const std::string &file) {
  for (const auto &entry : tensors) {
    bool isKnown = false;
    for (const std::string &name : names)
      isKnown = isKnown || name == entry.first;
    if (!isKnown)
      fail("'" + file + "' has a tensor '" + entry.first +
           "' but the design has no such input");
  }
}

/// A size that is known at run time.
inline int32_t checkSize(const char *name, int64_t value, int64_t least,
                         int64_t largest) {
  if (value < least || value > largest)
    fail(std::string("size '") + name + "': expected " + std::to_string(least) +
         " to " + std::to_string(largest) + " but got " +
         std::to_string(value));
  return static_cast<int32_t>(value);
}

/// A packed weight: its bytes go to the board as they are.
inline std::vector<char> readWeight(const Layout &layout,
                                    const std::string &path) {
  std::vector<char> data = readFile(path);
  if (data.size() != layout.bytes)
    fail("weight '" + layout.name + "' in '" + path + "': expected " +
         std::to_string(layout.bytes) + " bytes but got " +
         std::to_string(data.size()) + "; compile the design again");
  return data;
}

//===----------------------------------------------------------------------===//
// The board
//===----------------------------------------------------------------------===//

inline xrt::device openBoard(unsigned board) {
  try {
    return xrt::device(board);
  } catch (const std::exception &error) {
    fail("cannot open board " + std::to_string(board) + ": " + error.what() +
         (std::getenv("XILINX_XRT")
              ? "; check it with 'xbutil examine'"
              : "; run the setup.sh of the XRT installation, which sets "
                "XILINX_XRT"));
  }
}

/// `sha256` is that of the kernel.cpp beside this program. `make link` writes
/// beside the executable of which ones its kernels were made, a line `HASH
/// FUNCTION` each.
inline xrt::kernel loadKernel(xrt::device &device, const std::string &xclbin,
                              const std::string &function,
                              const std::string &sha256) {
  std::ifstream kernels(xclbin + ".kernels");
  for (std::string hash, name; kernels >> hash >> name;)
    if (name == function && hash != sha256)
      fail("kernel '" + function + "' of '" + xclbin +
           "' was made of another kernel.cpp: expected SHA-256 " + sha256 +
           " but got " + hash + "; make the executable again with 'make link'");
  try {
    return xrt::kernel(device, device.load_xclbin(xclbin), function);
  } catch (const std::exception &error) {
    fail("cannot load kernel '" + function + "' from '" + xclbin +
         "': " + error.what() +
         "; make the executable of this design with 'make link'");
  }
}

/// Memory for an argument, in the bank that the kernel reaches. Sizes are
/// rounded up to pages.
inline xrt::bo allocate(const xrt::device &device, const xrt::kernel &kernel,
                        int index, const Layout &layout) {
  const size_t page = 4096;
  const size_t bytes = (layout.bytes + page - 1) / page * page;
  try {
    return xrt::bo(device, bytes ? bytes : page, xrt::bo::flags::normal,
                   static_cast<xrt::memory_group>(kernel.group_id(index)));
  } catch (const std::exception &error) {
    fail("cannot allocate " + std::to_string(bytes) + " bytes for '" +
         layout.name + "' on the board: " + error.what());
  }
}

inline void upload(xrt::bo &buffer, const std::vector<char> &data) {
  if (!data.empty())
    buffer.write(data.data(), data.size(), 0);
  buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE);
}

inline std::vector<char> download(xrt::bo &buffer, const Layout &layout) {
  std::vector<char> data(layout.bytes);
  buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
  if (!data.empty())
    buffer.read(data.data(), data.size(), 0);
  return data;
}

/// Starts the kernel and waits for its end; seconds.
inline double launch(xrt::run &run, unsigned timeoutMs) {
  const auto start = std::chrono::steady_clock::now();
  run.start();
  const ert_cmd_state state = run.wait(std::chrono::milliseconds(timeoutMs));
  if (state == ERT_CMD_STATE_ERROR || state == ERT_CMD_STATE_ABORT)
    fail("the kernel failed: state " + std::to_string(state) +
         " of ert_cmd_state; reset the board with 'xbutil reset'");
  if (state != ERT_CMD_STATE_COMPLETED)
    fail("the kernel did not end within " + std::to_string(timeoutMs) +
         " ms: state " + std::to_string(state) +
         " of ert_cmd_state; reset the board with 'xbutil reset', or give it "
         "more time with --timeout-ms");
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  return seconds.count();
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Wrong usage.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `--NAME VALUE`, each at most once.
class Options {
public:
  Options(int argc, char **argv, const std::vector<std::string> &names) {
    for (int i = 1; i < argc; i += 2) {
      bool isKnown = false;
      for (const std::string &name : names)
        isKnown = isKnown || argv[i] == "--" + name;
      if (!isKnown)
        throw UsageError(std::string("unknown option '") + argv[i] + "'");
      if (i + 1 == argc)
        throw UsageError(std::string("expected a value after '") + argv[i] +
                         "'");
      if (!values.emplace(argv[i] + 2, argv[i + 1]).second)
        throw UsageError(std::string("expected '") + argv[i] + "' once");
    }
  }

  const std::string &required(const std::string &name) const {
    const auto entry = values.find(name);
    if (entry == values.end())
      throw UsageError("expected the option '--" + name + "'");
    return entry->second;
  }
  std::string get(const std::string &name, const std::string &other) const {
    const auto entry = values.find(name);
    return entry == values.end() ? other : entry->second;
  }
  /// The required option as a number from 0 to 2^31 - 1.
  unsigned number(const std::string &name) const {
    const std::string &text = required(name);
    if (text.empty() || text.size() > 10 ||
        text.find_first_not_of("0123456789") != std::string::npos ||
        std::stoll(text) > INT32_MAX)
      throw UsageError("expected a number after '--" + name + "' but got '" +
                       text + "'");
    return static_cast<unsigned>(std::stoll(text));
  }
  unsigned number(const std::string &name, unsigned other) const {
    return values.count(name) ? number(name) : other;
  }

private:
  std::map<std::string, std::string> values;
};

/// Runs `body` and returns the exit code: 0 done, 1 failed, 2 wrong usage.
template <typename Fn>
int runProgram(const char *usage, Fn &&body) {
  try {
    body();
    return 0;
  } catch (const UsageError &error) {
    std::cerr << "host: error: " << error.what() << "\n" << usage;
    return 2;
  } catch (const std::exception &error) {
    std::cerr << "host: error: " << error.what() << "\n";
    return 1;
  }
}

} // namespace st_host

#endif // ST_HOST_H
