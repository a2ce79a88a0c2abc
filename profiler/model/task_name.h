// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstring>
#include <string>

#include "profiler/model/printable.h"

namespace icepath::model {

// A task chooses its own name (`comm` of records), so it is made printable where it enters.
inline std::string task_name(const char (&comm)[16])
{
	return model::printable({comm, strnlen(comm, sizeof comm)}, kLongestName);
}

} // namespace icepath::model
