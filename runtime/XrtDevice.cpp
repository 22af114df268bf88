//===- XrtDevice.cpp - A device on a board --------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of XRT, of version 2.13 and later: xrt::run::wait, no hw_context. Every
// exception of XRT gets the place and what to do.
//
//===----------------------------------------------------------------------===//

#include "runtime/XrtDevice.h"

#include "runtime/Error.h"
#include "runtime/XrtBuffer.h"

#include <cstdlib>
#include <experimental/xrt_xclbin.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <xrt/xrt_kernel.h>

using namespace streamtensor;
using namespace streamtensor::runtime;
namespace fs = std::filesystem;

namespace {

XrtBuffer &xrtBuffer(Buffer &buffer) {
  return static_cast<XrtBuffer &>(buffer);
}

void refuseFile(const Buffer &buffer) {
  if (static_cast<const XrtBuffer &>(buffer).isFile())
    throw Error("cannot write to a buffer that was loaded from a file");
}

class XrtDesign final : public Design {
public:
  XrtDesign(DesignInterface info, xrt::kernel kernel)
      : Design(std::move(info)), kernel(std::move(kernel)) {
    std::set<std::string> stored;
    for (const DmaInfo &dma : interface().dma)
      if (dma.direction == "out")
        stored.insert(dma.argument);
    const std::vector<ArgumentInfo> &arguments = interface().arguments;
    for (size_t i = 0; i < arguments.size(); ++i) {
      groups.push_back(this->kernel.group_id(static_cast<int>(i)));
      isWritten.push_back(arguments[i].role == Role::Output ||
                          arguments[i].role == Role::Workspace ||
                          stored.count(arguments[i].name) != 0);
    }
  }

  xrt::kernel kernel;
  /// Per argument: its bank of memory, and whether the kernel writes to it.
  std::vector<int> groups;
  std::vector<bool> isWritten;
};

class XrtDevice final : public Device {
public:
  XrtDevice(const XrtOptions &options,
            std::function<void(const std::string &)> progress);

  BufferRef allocate(uint64_t bytes) override;
  BufferRef loadFile(const std::string &path) override;
  void write(Buffer &buffer, uint64_t offset, const void *data,
             uint64_t bytes) override;
  void read(const Buffer &buffer, uint64_t offset, void *data,
            uint64_t bytes) override;
  void copy(Buffer &to, uint64_t toOffset, const Buffer &from,
            uint64_t fromOffset, uint64_t bytes) override;
  void fillZero(Buffer &buffer) override;
  DesignRef open(const std::string &directory) override;
  std::vector<DesignRef>
  openTogether(const std::vector<std::string> &directories,
               const std::string &folder) override;

private:
  RunStatistics launch(Design &design, const std::vector<BufferView> &arguments,
                       const ParameterValues &parameters,
                       const std::vector<std::string> &recorded) override;
  std::string findExecutable(const DesignInterface &design) const;
  void loadExecutable(const std::string &path);
  void checkKernel(const DesignInterface &design) const;
  void waitFor(xrt::run &run, const DesignInterface &design) const;

  XrtOptions options;
  std::function<void(const std::string &)> progress;
  // One call of XRT at a time; designs may be opened from several threads.
  std::mutex mutex;
  xrt::device device;
  /// The loaded executable; empty before the first design.
  std::string loaded;
  xrt::xclbin executable;
  xrt::uuid uuid;
};

/// What a user can do about a board that XRT cannot open.
std::string adviceOnBoards() {
  if (!std::getenv("XILINX_XRT"))
    return "run the setup.sh of the XRT installation, which sets XILINX_XRT";
  return "check the board with 'xbutil examine', or run without one: --device "
         "csim";
}

/// The state as XRT's headers call it.
std::string stateName(ert_cmd_state state) {
  switch (state) {
  case ERT_CMD_STATE_NEW:
    return "new";
  case ERT_CMD_STATE_QUEUED:
    return "queued";
  case ERT_CMD_STATE_SUBMITTED:
    return "submitted";
  case ERT_CMD_STATE_RUNNING:
    return "running";
  case ERT_CMD_STATE_COMPLETED:
    return "completed";
  case ERT_CMD_STATE_ERROR:
    return "error";
  case ERT_CMD_STATE_ABORT:
    return "abort";
  case ERT_CMD_STATE_TIMEOUT:
    return "timeout";
  case ERT_CMD_STATE_NORESPONSE:
    return "no response";
  default:
    return "state " + std::to_string(state);
  }
}

/// Moves data; what XRT says of it becomes an Error.
template <typename Fn>
void move(const char *action, uint64_t bytes, Fn &&fn) {
  try {
    fn();
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Error(std::string("cannot ") + action + " " + std::to_string(bytes) +
                " bytes of memory of the board: " + error.what() +
                "; check the board with 'xbutil examine'");
  }
}

/// The SHA-256 of the kernel.cpp that `function` in an executable was made of:
/// `make link` writes it beside the executable, a line `HASH FUNCTION` per
/// kernel. Empty where nothing says it.
std::string kernelHash(const std::string &executable,
                       const std::string &function) {
  std::ifstream file(executable + ".kernels");
  for (std::string hash, name; file >> hash >> name;)
    if (name == function)
      return hash;
  return "";
}

/// A number from 0 to 2^31 - 1 in the variable `name`, or `value` without it.
unsigned numberFrom(const char *name, unsigned value) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return value;
  char *end;
  const long number = std::strtol(text, &end, 10);
  if (*end || number < 0 || number > INT32_MAX)
    throw Error(std::string("expected ") + name +
                " to be a number from 0 to 2147483647 but got '" + text + "'");
  return static_cast<unsigned>(number);
}

} // namespace

XrtOptions XrtOptions::fromEnvironment() {
  XrtOptions options;
  options.board = numberFrom("STREAMTENSOR_XRT_BOARD", options.board);
  options.timeout = std::chrono::milliseconds(
      numberFrom("STREAMTENSOR_XRT_TIMEOUT_MS",
                 static_cast<unsigned>(options.timeout.count())));
  return options;
}

XrtDevice::XrtDevice(const XrtOptions &options,
                     std::function<void(const std::string &)> progress)
    : options(options), progress(std::move(progress)) {
  try {
    device = xrt::device(options.board);
  } catch (const std::exception &error) {
    throw Error("cannot open board " + std::to_string(options.board) + ": " +
                error.what() + "; " + adviceOnBoards());
  }
}

BufferRef XrtDevice::allocate(uint64_t bytes) {
  return std::make_shared<XrtBuffer>(MappedMemory::zeros(bytes),
                                     options.pieceBytes);
}

BufferRef XrtDevice::loadFile(const std::string &path) {
  return std::make_shared<XrtBuffer>(MappedMemory::ofFile(path),
                                     options.pieceBytes);
}

void XrtDevice::write(Buffer &buffer, uint64_t offset, const void *data,
                      uint64_t bytes) {
  checkRange(buffer, offset, bytes, "write");
  refuseFile(buffer);
  move("write", bytes, [&] { xrtBuffer(buffer).write(offset, data, bytes); });
}

void XrtDevice::read(const Buffer &buffer, uint64_t offset, void *data,
                     uint64_t bytes) {
  checkRange(buffer, offset, bytes, "read");
  move("read", bytes, [&] {
    static_cast<const XrtBuffer &>(buffer).read(offset, data, bytes);
  });
}

void XrtDevice::copy(Buffer &to, uint64_t toOffset, const Buffer &from,
                     uint64_t fromOffset, uint64_t bytes) {
  // By way of the host: xrt::bo::copy without a copy engine on the board falls
  // back to the host's sides, which are not current here.
  checkRange(from, fromOffset, bytes, "copy");
  std::vector<char> data(bytes);
  read(from, fromOffset, data.data(), bytes);
  write(to, toOffset, data.data(), bytes);
}

void XrtDevice::fillZero(Buffer &buffer) {
  refuseFile(buffer);
  xrtBuffer(buffer).fillZero();
}

std::string XrtDevice::findExecutable(const DesignInterface &design) const {
  if (!options.xclbin.empty())
    return options.xclbin;
  const fs::path directory = fs::path(design.directory).lexically_normal();
  const fs::path own = directory / (design.function + ".xclbin");
  const fs::path together =
      (directory / "..").lexically_normal() / "model.xclbin";
  for (const fs::path &path : {own, together})
    if (fs::exists(path))
      return path.string();
  throw Error("design '" + design.directory +
              "' expected its executable for a board in '" + own.string() +
              "' or '" + together.string() +
              "' but neither exists; make it with 'make -C " +
              design.directory + " link PLATFORM=NAME' (needs Vitis)");
}

void XrtDevice::loadExecutable(const std::string &path) {
  std::error_code ignored;
  if (!loaded.empty()) {
    if (loaded == path || fs::equivalent(loaded, path, ignored))
      return;
    throw Error("the board holds the executable '" + loaded + "', so '" + path +
                "' cannot be loaded beside it; link the kernels into one "
                "model.xclbin beside the designs");
  }
  if (!fs::is_regular_file(path, ignored))
    throw Error("expected an executable for a board but '" + path +
                "' is no file");
  if (progress)
    progress("loading " + path);
  try {
    executable = xrt::xclbin(path);
    uuid = device.load_xclbin(executable);
  } catch (const std::exception &error) {
    throw Error("cannot load '" + path + "' on board " +
                std::to_string(options.board) + ": " + error.what() +
                "; it must be linked for the platform of this board");
  }
  if (uuid != executable.get_uuid())
    throw Error("expected board " + std::to_string(options.board) +
                " to hold '" + path + "' with UUID " +
                executable.get_uuid().to_string() + " but got UUID " +
                uuid.to_string() + "; another process uses the board");
  loaded = path;
}

void XrtDevice::checkKernel(const DesignInterface &design) const {
  std::string names;
  for (const xrt::xclbin::kernel &kernel : executable.get_kernels()) {
    if (kernel.get_name() != design.function) {
      names += (names.empty() ? "'" : ", '") + kernel.get_name() + "'";
      continue;
    }
    const size_t expected = design.arguments.size() + design.parameters.size();
    if (kernel.get_num_args() != expected)
      throw Error("kernel '" + design.function + "' of '" + loaded + "' has " +
                  std::to_string(kernel.get_num_args()) +
                  " arguments but design '" + design.directory + "' expected " +
                  std::to_string(expected) + "; link the executable again");
    const std::string hash = kernelHash(loaded, design.function);
    if (!hash.empty() && hash != design.kernelSha256)
      throw Error("kernel '" + design.function + "' of '" + loaded +
                  "' was made of another text than design '" +
                  design.directory + "' has: expected SHA-256 " +
                  design.kernelSha256 + " but got " + hash +
                  "; link the executable again");
    return;
  }
  throw Error("'" + loaded + "' has no kernel '" + design.function +
              "' of design '" + design.directory + "' but " +
              (names.empty() ? "no kernel at all" : names) +
              "; it was linked for another design");
}

DesignRef XrtDevice::open(const std::string &directory) {
  DesignInterface info = DesignInterface::read(directory);
  for (const ArgumentInfo &argument : info.arguments)
    if (argument.bytes > options.pieceBytes)
      throw Error("argument '" + argument.name + "' of design '" +
                  info.directory + "' has " + std::to_string(argument.bytes) +
                  " bytes but a buffer of XRT has at most " +
                  std::to_string(options.pieceBytes) +
                  "; split the tensor in the model");
  const std::lock_guard<std::mutex> lock(mutex);
  loadExecutable(findExecutable(info));
  checkKernel(info);
  try {
    xrt::kernel kernel(device, uuid, info.function);
    return std::make_shared<XrtDesign>(std::move(info), std::move(kernel));
  } catch (const std::exception &error) {
    throw Error("cannot open the kernel of design '" + directory + "' in '" +
                loaded + "': " + error.what());
  }
}

std::vector<DesignRef>
XrtDevice::openTogether(const std::vector<std::string> &directories,
                        const std::string &folder) {
  std::vector<DesignRef> designs;
  for (const std::string &directory : directories)
    designs.push_back(open(directory));
  return designs;
}

void XrtDevice::waitFor(xrt::run &run, const DesignInterface &design) const {
  const ert_cmd_state state = run.wait(options.timeout);
  if (state == ERT_CMD_STATE_COMPLETED)
    return;
  const bool isLate =
      state == ERT_CMD_STATE_TIMEOUT || state == ERT_CMD_STATE_NEW ||
      state == ERT_CMD_STATE_QUEUED || state == ERT_CMD_STATE_SUBMITTED ||
      state == ERT_CMD_STATE_RUNNING;
  if (isLate)
    throw Error("design '" + design.directory + "' did not end within " +
                std::to_string(options.timeout.count()) + " ms (state '" +
                stateName(state) +
                "'); reset the board with 'xbutil reset', or give it more time "
                "in STREAMTENSOR_XRT_TIMEOUT_MS");
  throw Error("design '" + design.directory + "' ended with state '" +
              stateName(state) +
              "'; reset the board with 'xbutil reset' and look at its log");
}

RunStatistics XrtDevice::launch(Design &design,
                                const std::vector<BufferView> &arguments,
                                const ParameterValues &parameters,
                                const std::vector<std::string> &recorded) {
  if (!recorded.empty())
    throw Error("the tokens of FIFOs cannot be seen on a board; use --device "
                "csim");
  XrtDesign &opened = static_cast<XrtDesign &>(design);
  const DesignInterface &info = design.interface();
  for (size_t i = 0; i < arguments.size(); ++i) {
    const XrtBuffer &buffer =
        static_cast<const XrtBuffer &>(*arguments[i].buffer);
    const std::string who = "argument '" + info.arguments[i].name +
                            "' of design '" + info.directory + "'";
    if (buffer.isFile() && opened.isWritten[i])
      throw Error(who + " is written but its buffer is a file");
    if (!buffer.isInOnePiece(arguments[i].offset, info.arguments[i].bytes))
      throw Error(who + " lies across a boundary of the pieces of " +
                  std::to_string(options.pieceBytes) +
                  " bytes in which a larger buffer lies on a board; give it a "
                  "buffer of its own");
  }

  const std::lock_guard<std::mutex> lock(mutex);
  RunStatistics statistics;
  try {
    xrt::run run(opened.kernel);
    int index = 0;
    for (size_t i = 0; i < arguments.size(); ++i, ++index) {
      uint64_t offset = arguments[i].offset;
      XrtPiece &piece = xrtBuffer(*arguments[i].buffer).pieceAt(offset);
      xrt::bo &buffer = piece.bind(device, opened.groups[i]);
      if (offset)
        run.set_arg(index, xrt::bo(buffer, buffer.size() - offset, offset));
      else
        run.set_arg(index, buffer);
    }
    for (const ParameterInfo &parameter : info.parameters)
      run.set_arg(index++, static_cast<int32_t>(parameters.at(parameter.name)));
    const auto start = std::chrono::steady_clock::now();
    run.start();
    waitFor(run, info);
    const std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    statistics.seconds = seconds.count();
  } catch (const Error &) {
    throw;
  } catch (const std::exception &error) {
    throw Error("cannot run design '" + info.directory + "' on board " +
                std::to_string(options.board) + ": " + error.what());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    uint64_t offset = arguments[i].offset;
    if (opened.isWritten[i])
      xrtBuffer(*arguments[i].buffer)
          .pieceAt(offset)
          .markWritten(opened.groups[i]);
  }
  return statistics;
}

std::unique_ptr<Device>
runtime::makeXrtDevice(const XrtOptions &options,
                       std::function<void(const std::string &)> progress) {
  return std::make_unique<XrtDevice>(options, std::move(progress));
}
