// SPDX-License-Identifier: Apache-2.0
#include "profiler/capture/call_kinds.h"

#include <sys/syscall.h>

#include "ebpf/records.h"

namespace icepath::capture {

CallKinds call_kinds()
{
	CallKinds kinds{};
	for (const int number : {SYS_write, SYS_writev, SYS_sendto, SYS_sendmsg, SYS_mq_timedsend})
		kinds[number] = ICEPATH_CALL_GIVE;
	for (const int number : {SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_mq_timedreceive})
		kinds[number] = ICEPATH_CALL_TAKE;
	for (const int number : {SYS_sendfile, SYS_splice})
		kinds[number] = ICEPATH_CALL_TRANSFER;
	kinds[SYS_connect] = ICEPATH_CALL_CONNECT;
	kinds[SYS_accept] = kinds[SYS_accept4] = ICEPATH_CALL_ACCEPT;
	kinds[SYS_socketpair] = ICEPATH_CALL_PAIR;
	kinds[SYS_sendmmsg] = ICEPATH_CALL_GIVE_MESSAGES;
	kinds[SYS_recvmmsg] = ICEPATH_CALL_TAKE_MESSAGES;
	for (const int number : {
			 SYS_ppoll,
			 SYS_pselect6,
			 SYS_epoll_pwait,
			 SYS_epoll_pwait2,
#ifdef SYS_poll // not on newer architectures
			 SYS_poll,
			 SYS_select,
			 SYS_epoll_wait,
#endif
		 })
		kinds[number] = ICEPATH_CALL_READINESS;
	kinds[SYS_futex] = ICEPATH_CALL_FUTEX_WAIT;
	return kinds;
}

EventfdCalls eventfd_calls()
{
#ifdef SYS_eventfd // not on newer architectures
	return {SYS_eventfd, SYS_eventfd2};
#else
	return {SYS_eventfd2, SYS_eventfd2};
#endif
}

} // namespace icepath::capture
