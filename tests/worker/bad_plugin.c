/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in that icepath must refuse. Built several times, each with another flaw. */
#include "icepath/plugin.h"

#ifndef PLUGIN_ABI
#define PLUGIN_ABI ICEPATH_PLUGIN_ABI
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(struct icepath_plugin)
#endif

#ifndef WITHOUT_SYMBOL
const struct icepath_plugin *icepath_plugin_get(void)
{
	static const struct icepath_plugin plugin = {.size = PLUGIN_SIZE, .abi = PLUGIN_ABI, .name = "bad"};
	return &plugin;
}
#else
int nothing_to_see_here(void);
int nothing_to_see_here(void) { return 0; }
#endif
