// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace icepath::privilege {

// From now on this process and its children can set no filter of system calls, as a parent's filter may have it. False:
// that isn't possible here.
bool let_no_filter_be_set();

} // namespace icepath::privilege
