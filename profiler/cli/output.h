// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace icepath::cli {

// Opens /dev/null for closed standard streams. Otherwise the next opened file would get such a number, and the output.
void open_standard_streams();

// The only functions that write to the standard streams. They make text printable (model::printable_page(),
// model::printable()), because names come from files, plug-ins and directories.

// Writes all of `text` to stdout, unbuffered. Throws Failure(MachineCannot): an unprinted report is no success.
void print(const std::string &text);

// Writes one line to stderr, and adds a missing line feed. Ignores errors: the run goes on without diagnostics.
void complain(const std::string &line);
// The same over the cursor's line, without a line feed.
void overwrite(const std::string &line);

} // namespace icepath::cli
