// SPDX-License-Identifier: Apache-2.0
#pragma once
// Names of functions made shorter for a table: C++ names have parameters, namespaces and template arguments that say
// less than the function's own name.
#include <cstddef>
#include <string>

namespace icepath::text {

// `name` as stacks have it: "library!function" or "function", perhaps with " (inlined)". As long as it doesn't fit into
// `room` columns, it loses the first of these that it still has: return type and parameters; namespaces, the outermost
// first; template arguments; the class; the library. A name that doesn't fit even then is longer than `room`.
std::string shortened_function(const std::string &name, size_t room);

} // namespace icepath::text
