// SPDX-License-Identifier: Apache-2.0
#include "tests/privilege/no_filters.h"

#include <seccomp.h>
#include <sys/prctl.h>

#include <cerrno>

namespace icepath::privilege {

bool let_no_filter_be_set()
{
	scmp_filter_ctx no_more = seccomp_init(SCMP_ACT_ALLOW);
	const bool loaded = seccomp_rule_add(no_more, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp), 0) == 0 &&
						seccomp_rule_add(no_more, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
										 SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP)) == 0 &&
						seccomp_load(no_more) == 0;
	seccomp_release(no_more);
	return loaded;
}

} // namespace icepath::privilege
