// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one sentence that a failed call leaves for icepath_plugin::error. Never allocates, because it is written when
// things go wrong.
#include <cstdarg>
#include <cstdio>

namespace icepath::plugin_kit {

class Sentence {
public:
	// Returns `status`, so that a failing function ends with `return sentence.tell(ICEPATH_FAILED, "...")`.
	__attribute__((format(printf, 3, 4))) int tell(int status, const char *format, ...)
	{
		va_list arguments;
		va_start(arguments, format);
		std::vsnprintf(text_, sizeof(text_), format, arguments);
		va_end(arguments);
		return status;
	}
	const char *text() const { return text_; }

private:
	char text_[320] = "";
};

} // namespace icepath::plugin_kit
