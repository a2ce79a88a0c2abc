/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in that icepath must refuse. Built several times, each with another flaw. */
#include "icepath/plugin.h"

#ifndef PLUGIN_ABI
#define PLUGIN_ABI ICEPATH_PLUGIN_ABI
#endif
#ifndef PLUGIN_SIZE
#define PLUGIN_SIZE sizeof(struct icepath_plugin)
#endif

#if defined(WITHOUT_SYMBOL)
int nothing_to_see_here(void);
int nothing_to_see_here(void) { return 0; }
#elif defined(WITHOUT_THREADS) /* callbacks, but nobody who makes them */
static const struct icepath_target *target(uint32_t n)
{
	static const struct icepath_target only = {.size = sizeof(only), .name = "bad", .waits = ICEPATH_WAIT_CALLBACK};
	return n == 0 ? &only : NULL;
}
static int open_end(const struct icepath_open *how, struct icepath_endpoint **endpoint, struct icepath_address *address)
{
	(void)how, (void)endpoint, (void)address;
	return ICEPATH_FAILED;
}
static int connect_end(struct icepath_endpoint *endpoint, const struct icepath_address *peer)
{
	(void)endpoint, (void)peer;
	return ICEPATH_FAILED;
}
static int send_message(struct icepath_endpoint *endpoint, struct icepath_send *message)
{
	(void)endpoint, (void)message;
	return ICEPATH_FAILED;
}
static int recv_message(struct icepath_endpoint *endpoint, struct icepath_recv *message)
{
	(void)endpoint, (void)message;
	return ICEPATH_FAILED;
}
static void nothing(struct icepath_endpoint *endpoint) { (void)endpoint; }
static const char *no_error(const struct icepath_endpoint *endpoint)
{
	(void)endpoint;
	return "";
}
static uint32_t no_sockets(const struct icepath_endpoint *endpoint, int *fds, uint32_t capacity)
{
	(void)endpoint, (void)fds, (void)capacity;
	return 0;
}
const struct icepath_plugin *icepath_plugin_get(void)
{
	static const struct icepath_plugin plugin = {.size = sizeof(plugin),
												 .abi = ICEPATH_PLUGIN_ABI,
												 .name = "bad",
												 .target = target,
												 .open = open_end,
												 .connect = connect_end,
												 .send = send_message,
												 .recv = recv_message,
												 .cancel = nothing,
												 .close = nothing,
												 .error = no_error,
												 .sockets = no_sockets};
	return &plugin;
}
#else
const struct icepath_plugin *icepath_plugin_get(void)
{
	static const struct icepath_plugin plugin = {.size = PLUGIN_SIZE, .abi = PLUGIN_ABI, .name = "bad"};
	return &plugin;
}
#endif
