// SPDX-License-Identifier: Apache-2.0
// What the reader chose, kept behind the '#' of the address, so that a link shows the same.

export const chosen = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

// Leaves out what is empty.
export function choose(values) {
	const kept = Object.entries({ ...chosen(), ...values }).filter(([, value]) => value !== "" && value !== undefined);
	history.replaceState(null, "", kept.length ? `#${new URLSearchParams(kept)}` : location.pathname + location.search);
}
