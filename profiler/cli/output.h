// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::cli {

// A standard stream that was closed stays useless: else the next file that is opened would have its number, and get what is printed.
void open_standard_streams();

// The one way to stdout: all of `text`, now. Throws Failure(MachineCannot) where it can't be written: a report that
// nobody got is no success.
void print(const std::string &text);

// The one way to stderr. Progress and complaints that nobody can get are lost and change nothing: the run goes on.
void complain(const std::string &text);

} // namespace icepath::cli
