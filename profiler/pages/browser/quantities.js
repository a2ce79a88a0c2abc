// SPDX-License-Identifier: Apache-2.0
// Numbers formatted for people, as ../quantity.h does.

function threeDigits(value) {
	return Math.abs(value) >= 100 || value === 0 ? String(Math.round(value)) : value.toPrecision(3);
}

export const microseconds = (ns) => threeDigits(ns / 1e3);

export function duration(ns) {
	for (const [unit, of] of [["s", 1e9], ["ms", 1e6], ["µs", 1e3]])
		if (Math.abs(ns) >= of)
			return `${threeDigits(ns / of)} ${unit}`;
	return `${Math.round(ns)} ns`;
}

export const seconds = (s) => `${Number(s.toPrecision(4))} s`;

export const percent = (share) => `${(100 * share).toFixed(1)} %`;
