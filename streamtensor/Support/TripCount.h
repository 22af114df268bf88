//===- TripCount.h - Trip counts known at run time --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A trip count that is an affine expression of named run-time parameters, each
// an integer from 0 to a maximum:
//
//   256    seq max 256    past max 255 + 1    4 * ceildiv(seq max 256, 16)
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_TRIPCOUNT_H
#define STREAMTENSOR_SUPPORT_TRIPCOUNT_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// The largest value of each run-time parameter, or a value of each; by name.
using ParameterValues = std::map<std::string, int64_t>;

/// A constant plus multiples of parameters and of `ceildiv(expression, n)`.
/// Every operation keeps the canonical form: terms sorted by their spelling,
/// each once, none times 0; what is divisible stands outside of a `ceildiv`.
class TripCount {
public:
  TripCount(int64_t constant = 0) : constant(constant) {}
  /// The parameter `name`.
  static TripCount parameter(const std::string &name);
  /// `numerator` / `divisor`, rounded up; `divisor` >= 1.
  static TripCount ceilDiv(const TripCount &numerator, int64_t divisor);

  /// Reads the spelling above. The maximum stands behind the first use of a
  /// parameter and is kept in `maxima`, where it may have been before. Returns
  /// nothing, and the cause in `error`, for another text, two maxima of one
  /// parameter, a parameter without, or a number beyond 32 bits.
  static std::optional<TripCount>
  parse(const std::string &text, ParameterValues &maxima, std::string &error);

  bool isConstant() const { return terms.empty(); }
  int64_t getConstant() const { return constant; }
  bool isConstant(int64_t value) const {
    return isConstant() && constant == value;
  }

  TripCount operator+(const TripCount &other) const;
  TripCount operator*(int64_t factor) const;
  /// The canonical spelling is equal. Equal spellings have equal values; the
  /// converse fails only where values are limited (ceildiv(p, 4) is p for a
  /// parameter of at most 1).
  bool operator==(const TripCount &other) const;
  bool operator!=(const TripCount &other) const { return !(*this == other); }

  /// The same with the parameters in `fixed` at these values.
  TripCount substitute(const ParameterValues &fixed) const;
  /// The value, given one for each parameter.
  int64_t evaluate(const ParameterValues &values) const;
  /// Bounds of the value when each parameter runs from its minimum, 0 where
  /// `minima` has none, to its maximum; exact where each parameter appears
  /// once.
  int64_t lowest(const ParameterValues &maxima,
                 const ParameterValues &minima = {}) const;
  int64_t highest(const ParameterValues &maxima,
                  const ParameterValues &minima = {}) const;
  /// The greatest common divisor of the constant and all factors; 0 for 0.
  int64_t content() const;
  /// The same without the common divisor `divisor`.
  TripCount dividedBy(int64_t divisor) const;
  /// Adds the names of all parameters to `names` (values of 0).
  void collectParameters(ParameterValues &names) const;
  /// The least common multiple of all divisors: the period after which the
  /// differences of the values repeat.
  int64_t period() const;
  /// The largest absolute number in the expression.
  int64_t largestNumber() const;

  /// The spelling without maxima.
  std::string str() const;
  /// The spelling with the maximum behind the first use of each parameter that
  /// is not in `seen`, to which it is added.
  std::string str(const ParameterValues &maxima, ParameterValues &seen) const;

  /// `factor` times a parameter (`name`), or else times the only element of
  /// `numerator` divided by `divisor` and rounded up. Factors and constants
  /// inside of a numerator are not negative.
  struct Term {
    int64_t factor = 1;
    std::string name;
    std::vector<TripCount> numerator;
    int64_t divisor = 1;
    std::string key() const;
  };
  /// What is added to the constant.
  const std::vector<Term> &getTerms() const { return terms; }

private:
  void add(Term term);
  int64_t bound(const ParameterValues &maxima, const ParameterValues &minima,
                bool upper) const;
  std::string spell(const ParameterValues *maxima, ParameterValues *seen) const;

  int64_t constant;
  std::vector<Term> terms;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_TRIPCOUNT_H
