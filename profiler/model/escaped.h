// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts in markup.
#include <string>

namespace icepath::model {

// For the content or an attribute of XML, SVG and HTML. What is printable (printable.h) has no character that XML
// refuses but U+FFFE and U+FFFF, which become U+FFFD.
std::string escaped(const std::string &text);

} // namespace icepath::model
