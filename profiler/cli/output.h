// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::cli {

// A standard stream that was closed stays useless: else the next file that is opened would have its number, and get what is printed.
void open_standard_streams();

// These are the only ways to the standard streams. What goes through them is model::printable_page() or a printable line, whatever it
// quotes: names come from files, plug-ins and directories.

// To stdout: all of `text`, now. Throws Failure(MachineCannot) where it can't be written: a report that nobody got is no success.
void print(const std::string &text);

// One line to stderr, with its line feed. Progress and complaints that nobody can get are lost and change nothing: the run goes on.
void complain(const std::string &line);
// The same over the line on which the cursor stands, and without a line feed.
void overwrite(const std::string &line);

} // namespace icepath::cli
