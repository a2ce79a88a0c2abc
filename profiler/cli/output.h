// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::cli {

// The one way to stdout: all of `text`, now. Throws Failure(MachineCannot) where it can't be written: a report that
// nobody got is no success.
void print(const std::string &text);

} // namespace icepath::cli
