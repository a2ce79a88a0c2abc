/* SPDX-License-Identifier: Apache-2.0 */
/* Built with the header of an older version, for a test that has today's. */
#include <icepath/plugin.h>

const uint32_t older_plugin_size = sizeof(struct icepath_plugin);
const uint32_t older_target_size = sizeof(struct icepath_target);
const uint32_t older_daemon_size = sizeof(struct icepath_daemon);
const uint32_t older_recv_size = sizeof(struct icepath_recv);
