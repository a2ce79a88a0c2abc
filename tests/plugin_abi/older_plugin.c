/* SPDX-License-Identifier: Apache-2.0 */
/* The example in C, built for the first minor version of the interface. What lies behind its table isn't zero. */
#include <string.h>

#define icepath_plugin_get example
#include "middleware_adapters/template/raw.c"
#undef icepath_plugin_get

__attribute__((visibility("default"))) const struct icepath_plugin *icepath_plugin_get(void);
const struct icepath_plugin *icepath_plugin_get(void)
{
	static struct {
		struct icepath_plugin table;
		unsigned char behind[64];
	} its;
	its.table = *example();
	memset(its.behind, 0xff, sizeof(its.behind));
	return &its.table;
}
