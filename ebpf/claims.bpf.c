// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The maps that may be claims of CPUs (profiler/privilege/cpu_claim.h), a line for each: "ID NAME". A user who may not
 * list BPF objects by id, which takes CAP_SYS_ADMIN, may still run this program.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("iter/bpf_map")
int list_claims(struct bpf_iter__bpf_map *context)
{
	struct bpf_map *map = context->map;
	if (map && map->map_type == BPF_MAP_TYPE_QUEUE)
		BPF_SEQ_PRINTF(context->meta->seq, "%u %s\n", map->id, map->name);
	return 0;
}
