//===- SimulatedDevice.cpp - A device on the CPU --------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers are mapped memory; a design is a shared library that the scheduler
// runs.
//
//===----------------------------------------------------------------------===//

#include "runtime/SimulatedDevice.h"

#include "runtime/Error.h"
#include "runtime/KernelBuild.h"
#include "runtime/MappedMemory.h"
#include "runtime/WorkCount.h"
#include "runtime/sim/Scheduler.h"

#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <mutex>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

class HostBuffer final : public Buffer {
public:
  explicit HostBuffer(MappedMemory memory)
      : Buffer(memory.bytes()), memory(std::move(memory)) {}

  const MappedMemory memory;
};

const MappedMemory &memoryOf(const Buffer &buffer) {
  return static_cast<const HostBuffer &>(buffer).memory;
}

char *dataOf(const Buffer &buffer) { return memoryOf(buffer).data(); }

/// The shared library of one or several kernels.
class Library {
public:
  using Run = void (*)(void *const *buffers);

  explicit Library(const std::string &path)
      : handle(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle)
      throw Error(std::string("cannot load the simulation: ") + dlerror());
    auto open = reinterpret_cast<unsigned (*)(const st::sim::Api *)>(
        dlsym(handle, "st_simulation_open"));
    if (!open || !find(0) ||
        open(sim::Scheduler::api()) != st::sim::kApiVersion) {
      dlclose(handle);
      throw Error("'" + path +
                  "' is not a simulation of this version; remove " +
                  "it to have it built again");
    }
  }
  ~Library() { dlclose(handle); }
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;

  /// The function that runs kernel `index`.
  Run find(size_t index) const {
    return reinterpret_cast<Run>(dlsym(handle, runSymbol(index).c_str()));
  }

private:
  void *handle;
};

class SimulatedDesign final : public Design {
public:
  SimulatedDesign(DesignInterface info, std::shared_ptr<Library> library,
                  size_t index)
      : Design(std::move(info)), library(std::move(library)),
        kernel(this->library->find(index)), work(interface()) {}

  std::shared_ptr<Library> library;
  Library::Run kernel;
  WorkCount work;
};

class SimulatedDevice final : public Device {
public:
  explicit SimulatedDevice(std::function<void(const std::string &)> progress)
      : progress(std::move(progress)) {}

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

  std::function<void(const std::string &)> progress;
  std::mutex runMutex; // the scheduler runs one design at a time
  sim::Scheduler scheduler;
};

} // namespace

BufferRef SimulatedDevice::allocate(uint64_t bytes) {
  return std::make_shared<HostBuffer>(MappedMemory::zeros(bytes));
}

BufferRef SimulatedDevice::loadFile(const std::string &path) {
  return std::make_shared<HostBuffer>(MappedMemory::ofFile(path));
}

void SimulatedDevice::write(Buffer &buffer, uint64_t offset, const void *data,
                            uint64_t bytes) {
  checkRange(buffer, offset, bytes, "write");
  if (memoryOf(buffer).isFile())
    throw Error("cannot write to a buffer that was loaded from a file");
  std::memcpy(dataOf(buffer) + offset, data, bytes);
}

void SimulatedDevice::read(const Buffer &buffer, uint64_t offset, void *data,
                           uint64_t bytes) {
  checkRange(buffer, offset, bytes, "read");
  std::memcpy(data, dataOf(buffer) + offset, bytes);
}

void SimulatedDevice::copy(Buffer &to, uint64_t toOffset, const Buffer &from,
                           uint64_t fromOffset, uint64_t bytes) {
  checkRange(from, fromOffset, bytes, "copy");
  write(to, toOffset, dataOf(from) + fromOffset, bytes);
}

void SimulatedDevice::fillZero(Buffer &buffer) {
  if (memoryOf(buffer).isFile())
    throw Error("cannot write to a buffer that was loaded from a file");
  std::memset(dataOf(buffer), 0, buffer.bytes());
}

DesignRef SimulatedDevice::open(const std::string &directory) {
  DesignInterface info = DesignInterface::read(directory);
  const std::string library = buildKernel(info, HostCompiler::find(), progress);
  return std::make_shared<SimulatedDesign>(
      std::move(info), std::make_shared<Library>(library), 0);
}

std::vector<DesignRef>
SimulatedDevice::openTogether(const std::vector<std::string> &directories,
                              const std::string &folder) {
  std::vector<DesignInterface> infos;
  for (const std::string &directory : directories)
    infos.push_back(DesignInterface::read(directory));
  std::vector<DesignRef> designs;
  if (infos.empty())
    return designs;
  const auto library = std::make_shared<Library>(
      buildKernels(infos, folder, HostCompiler::find(), progress));
  for (size_t i = 0; i < infos.size(); ++i)
    designs.push_back(
        std::make_shared<SimulatedDesign>(std::move(infos[i]), library, i));
  return designs;
}

RunStatistics
SimulatedDevice::launch(Design &design,
                        const std::vector<BufferView> &arguments,
                        const ParameterValues &parameters,
                        const std::vector<std::string> &recorded) {
  SimulatedDesign &simulated = static_cast<SimulatedDesign &>(design);
  const DesignInterface &info = design.interface();
  std::vector<void *> pointers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    pointers.push_back(dataOf(*arguments[i].buffer) + arguments[i].offset);
    const Role role = info.arguments[i].role;
    if (memoryOf(*arguments[i].buffer).isFile() &&
        (role == Role::Output || role == Role::Workspace))
      throw Error("argument '" + info.arguments[i].name + "' of design '" +
                  info.directory + "' is written but its buffer is a file");
  }
  // Values are passed like pointers, by their place.
  std::vector<int32_t> values;
  for (const ParameterInfo &parameter : info.parameters)
    values.push_back(static_cast<int32_t>(parameters.at(parameter.name)));
  for (int32_t &value : values)
    pointers.push_back(&value);

  struct Call {
    void (*run)(void *const *);
    void *const *buffers;
  } call = {simulated.kernel, pointers.data()};
  const std::lock_guard<std::mutex> lock(runMutex);
  const auto start = std::chrono::steady_clock::now();
  try {
    scheduler.run(
        info.function.c_str(),
        [](void *argument) {
          const Call &call = *static_cast<Call *>(argument);
          call.run(call.buffers);
        },
        &call, recorded);
  } catch (const Error &error) {
    throw Error("design '" + info.directory + "': " + error.what());
  }
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  RunStatistics statistics = simulated.work.count(scheduler.fifoStatistics());
  statistics.seconds = seconds.count();
  for (sim::RecordedFifo &fifo : scheduler.takeRecorded())
    statistics.recorded.push_back(
        {std::move(fifo.name), fifo.tokenBytes, std::move(fifo.bytes)});
  return statistics;
}

std::unique_ptr<Device> runtime::makeSimulatedDevice(
    std::function<void(const std::string &)> progress) {
  return std::make_unique<SimulatedDevice>(std::move(progress));
}
