/* SPDX-License-Identifier: Apache-2.0 */
/* All types of the plug-ins' interface, for abidiff: what icepath_plugin_get leads to, and the enums whose values are
 * handed over as numbers. */
#include <icepath/plugin.h>

#define PUBLIC __attribute__((visibility("default")))

PUBLIC const struct icepath_plugin *icepath_plugin_get(void) { return 0; }

PUBLIC void icepath_enums(enum icepath_status, enum icepath_wait, enum icepath_mechanism, enum icepath_capability,
						  enum icepath_qos_policy, enum icepath_reliability, enum icepath_durability,
						  enum icepath_history, enum icepath_liveliness, enum icepath_send_flag);
void icepath_enums(enum icepath_status status, enum icepath_wait wait, enum icepath_mechanism mechanism,
				   enum icepath_capability capability, enum icepath_qos_policy policy,
				   enum icepath_reliability reliability, enum icepath_durability durability,
				   enum icepath_history history, enum icepath_liveliness liveliness, enum icepath_send_flag flag)
{
	(void)status, (void)wait, (void)mechanism, (void)capability, (void)policy, (void)reliability, (void)durability;
	(void)history, (void)liveliness, (void)flag;
}
