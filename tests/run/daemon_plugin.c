/* SPDX-License-Identifier: Apache-2.0 */
/* A plug-in with a daemon and nothing else. Built several times, each with another program. */
#include "icepath/plugin.h"

static const char *const arguments[] = {"-c", DAEMON_SCRIPT, NULL};
static const struct icepath_daemon its_daemon = {
	.size = sizeof(struct icepath_daemon),
	.program = DAEMON_PROGRAM,
#ifndef DAEMON_WITHOUT_PACKAGE
	.package = "of-another-name",
#endif
	.arguments = arguments,
	.file = "/tmp/of-the-daemon",
	.file_text = DAEMON_FILE,
	.ready = "ready",
};

static const struct icepath_target *target(uint32_t n)
{
	(void)n;
	return NULL;
}
static int open_end(const struct icepath_open *how, struct icepath_endpoint **end, struct icepath_address *address)
{
	(void)how, (void)end, (void)address;
	return ICEPATH_FAILED;
}
static int connect_end(struct icepath_endpoint *end, const struct icepath_address *peer)
{
	(void)end, (void)peer;
	return ICEPATH_FAILED;
}
static int send_message(struct icepath_endpoint *end, struct icepath_send *message)
{
	(void)end, (void)message;
	return ICEPATH_FAILED;
}
static int recv_message(struct icepath_endpoint *end, struct icepath_recv *message)
{
	(void)end, (void)message;
	return ICEPATH_FAILED;
}
static void nothing(struct icepath_endpoint *end) { (void)end; }
static const char *error(const struct icepath_endpoint *end)
{
	(void)end;
	return "it does nothing";
}
static uint32_t sockets(const struct icepath_endpoint *end, int *fds, uint32_t capacity)
{
	(void)end, (void)fds, (void)capacity;
	return 0;
}

const struct icepath_plugin *icepath_plugin_get(void)
{
	static const struct icepath_plugin plugin = {
		.size = sizeof(struct icepath_plugin),
		.abi = ICEPATH_PLUGIN_ABI,
		.name = "daemon",
		.library_version = "daemon 1",
		.daemon = &its_daemon,
		.target = target,
		.open = open_end,
		.connect = connect_end,
		.send = send_message,
		.recv = recv_message,
		.cancel = nothing,
		.close = nothing,
		.error = error,
		.sockets = sockets,
	};
	return &plugin;
}
