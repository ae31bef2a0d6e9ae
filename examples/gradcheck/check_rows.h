#pragma once

#include <ostream>
#include <vector>

#include <tests/op_cases/op_cases.h>

#include <attograd/core/gradcheck.h>

namespace attograd::gradcheck_program {

/// First and second derivatives of every row by the rules and by differences, with one line for
/// each row, the report of those that do not pass, and a summary. Returns the worst verdict.
Verdict check_rows(const std::vector<op_cases::OpCase>& rows, uint64_t seed, std::ostream& out);

}  // namespace attograd::gradcheck_program
