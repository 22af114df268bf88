//===- NetworkJson.h - The file of a timed network --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the JSON of docs/process-networks.md.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_NETWORK_NETWORKJSON_H
#define STREAMTENSOR_NETWORK_NETWORKJSON_H

#include "streamtensor/Network/TimedNetwork.h"

#include <string_view>

namespace streamtensor {

/// Reads a network from JSON text. Returns nothing and sets `error` (which key
/// of which process or FIFO, what was expected and found) for text that is no
/// JSON, keys that are unknown or missing, values of another type, and names
/// that nobody has. Does not check the network.
std::optional<TimedNetwork> parseNetwork(std::string_view text,
                                         std::string &error);

/// The file `path`: read, parsed and checked at the largest values of its
/// parameters; `error` then begins with the path.
std::optional<TimedNetwork> readNetworkFile(const std::string &path,
                                            std::string &error);

/// The text of `network`, one process or FIFO on a line. Reading it gives the
/// same network, and the same network gives the same bytes.
std::string printNetwork(const TimedNetwork &network);

/// Depths by name of FIFO, an object `{"name": depth}`, from JSON text; sets
/// those of `network`. Returns what is wrong, or nothing.
std::optional<std::string> applyDepths(std::string_view text,
                                       TimedNetwork &network);

/// The same from the file `path`, with which the message then begins.
std::optional<std::string> applyDepthsFile(const std::string &path,
                                           TimedNetwork &network);

/// Reads an expression of induction variables and of the parameters that have
/// an entry in `parameters`, as IndexExpr::toString writes it, and the same in
/// Python's spelling; `levels` loops stand around it. Returns nothing and sets
/// `error` for other text, loops and parameters that nobody has, and divisors
/// that are no positive constants.
std::optional<IndexExpr> parseCondition(std::string_view text, unsigned levels,
                                        const ParameterValues &parameters,
                                        std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_NETWORK_NETWORKJSON_H
