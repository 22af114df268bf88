//===- PrecompiledMLIR.cpp - parsed once -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A precompiled header belongs to a file: this one.
//
//===----------------------------------------------------------------------===//
