// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/escaped.h"

namespace icepath::model {

std::string escaped(const std::string &text)
{
	std::string safe;
	for (const char c : text)
		switch (c) {
		case '&':
			safe += "&amp;";
			break;
		case '<':
			safe += "&lt;";
			break;
		case '>':
			safe += "&gt;";
			break;
		case '"':
			safe += "&quot;";
			break;
		default:
			safe += c;
		}
	for (const char *refused : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
		for (size_t at = 0; (at = safe.find(refused, at)) != std::string::npos;)
			safe.replace(at, 3, "\xef\xbf\xbd");
	return safe;
}

} // namespace icepath::model
