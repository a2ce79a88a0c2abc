// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a process that keeps rights could still do if it were taken over, according to docs/privilege.md.
#include <sys/types.h>

#include <string>

namespace icepath::privilege {

// Tries each row of the page's table from inside the process, which sleeps in a system call, and expects the results in
// the column under that heading. See why_not_inside().
void expect_as_the_page_says(const std::string &heading, pid_t pid);

} // namespace icepath::privilege
