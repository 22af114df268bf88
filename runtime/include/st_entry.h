//===- st_entry.h - Entry points of a simulated kernel ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What makes a kernel a loadable simulation. The runtime compiles a two-line
// file that includes kernel.cpp and this header, and names the top function:
//
//   #include "kernel.cpp"
//   #include "st_entry.h"
//   ST_SIMULATION(layer, 3)
//
// Several kernels can share one simulation, each in a namespace of its own; see
// KernelBuild.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef ST_ENTRY_H
#define ST_ENTRY_H

#include "st_sim.h"

namespace st {
namespace sim {

const Api *api = nullptr;

/// A pointer parameter is the address of its buffer; a scalar lies in it.
template <typename T>
struct Parameter {
  static T from(void *buffer) { return *static_cast<T *>(buffer); }
};
template <typename T>
struct Parameter<T *> {
  static T *from(void *buffer) { return static_cast<T *>(buffer); }
};

template <size_t... I>
struct Indices {};
template <size_t N, size_t... I>
struct MakeIndices : MakeIndices<N - 1, N - 1, I...> {};
template <size_t... I>
struct MakeIndices<0, I...> {
  using Type = Indices<I...>;
};

template <typename... Parameters, size_t... I>
void callTop(void (*top)(Parameters...), void *const *buffers, Indices<I...>) {
  top(Parameter<Parameters>::from(buffers[I])...);
}

template <size_t N, typename... Parameters>
void callTop(void (*top)(Parameters...), void *const *buffers) {
  static_assert(sizeof...(Parameters) == N,
                "expected as many parameters of the top function as "
                "interface.json has arguments and parameters");
  callTop(top, buffers, typename MakeIndices<N>::Type());
}

} // namespace sim
} // namespace st

#define ST_EXPORT extern "C" __attribute__((visibility("default")))

/// Defines the functions that the runtime looks up. `st_simulation_open` takes
/// the scheduler's functions and returns the version this file was built for.
#define ST_SIMULATION_OPEN()                                                   \
  ST_EXPORT unsigned st_simulation_open(const st::sim::Api *functions) {       \
    st::sim::api = functions;                                                  \
    return st::sim::kApiVersion;                                               \
  }

/// The function called `symbol_` calls the top function with one buffer per
/// parameter.
#define ST_SIMULATION_RUN(symbol_, function_, arguments_)                      \
  ST_EXPORT void symbol_(void *const *buffers) {                               \
    st::sim::callTop<arguments_>(&function_, buffers);                         \
  }

/// A simulation of one kernel.
#define ST_SIMULATION(function_, arguments_)                                   \
  ST_SIMULATION_OPEN()                                                         \
  ST_SIMULATION_RUN(st_simulation_run, function_, arguments_)

#endif // ST_ENTRY_H
