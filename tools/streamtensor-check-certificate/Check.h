//===- Check.h - The check of one certificate ----------------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that must hold before a certificate is called verified.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_CHECK_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_CHECK_H

#include <iosfwd>
#include <string>

namespace streamtensor::certificate {

/// Verifies DIR/certificate.json of the design in `directory` and returns what
/// was verified and what was not, for people. Throws Refusal.
std::string checkCertificate(const std::string &directory);

/// Checks each directory in the lines of `input` and prints one line for each.
/// Throws Refusal when one was refused, after the last one.
void checkMany(std::istream &input, std::ostream &output);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_CHECK_H
