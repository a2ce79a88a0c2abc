// SPDX-License-Identifier: Apache-2.0
#include "tests/folders.h"

namespace icepath::test {

std::string in_build(const std::string &path) { return ICEPATH_BUILD "/" + path; }

std::string in_source(const std::string &path) { return ICEPATH_SOURCE "/" + path; }

} // namespace icepath::test
