// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which icepath this is.
#include <string>

#include "profiler/cli/option_pages.h"

namespace icepath::cli {

// What `icepath --version` prints: the version, the commit that was built, and the versions of what others read.
std::string version_text();

Edition edition(); // of man pages

} // namespace icepath::cli
