/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef ICEPATH_EBPF_USER_STACK_H
#define ICEPATH_EBPF_USER_STACK_H
#include "records.h" /* ICEPATH_U64 and the like */

/*
 * The user-mode part of a stack, from which callers are found (profiler/symbols/user_stacks.h). It may hold a message's
 * bytes, so only the user whose process it is gets it, and it is never stored.
 */
#define ICEPATH_USER_REGISTERS                                                                                         \
	17 /* of x86-64, by their numbers in DWARF: 7 is the stack pointer, 16 the instruction's */
#define ICEPATH_USER_STACK_BYTES 16384
struct icepath_user_stack {
	ICEPATH_U64 registers[ICEPATH_USER_REGISTERS];
	ICEPATH_U32 bytes; /* of `memory`; 0: nothing was copied, not even registers */
	ICEPATH_U32 reserved;
	ICEPATH_U8 memory[ICEPATH_USER_STACK_BYTES]; /* from the stack pointer on */
};

#endif
