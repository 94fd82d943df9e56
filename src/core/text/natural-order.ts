// The order in which people number things: 12.2 before 12.10, phase-9 before phase-10. Pure.

import { nth } from "../errors.ts";

/** For `sort`. Runs of digits compare as numbers, everything else by character; equal numbers (`1`, `01`) by their text. */
export function naturalOrder(a: string, b: string): number {
	const [left, right] = [parts(a), parts(b)];
	for (let at = 0; at < left.length && at < right.length; at++) {
		const [x, y] = [nth(left, at), nth(right, at)];
		if (x === y) continue;
		if (isDigits(x) && isDigits(y)) {
			const [m, n] = [x.replace(/^0+(?=\d)/, ""), y.replace(/^0+(?=\d)/, "")];
			if (m.length !== n.length) return m.length - n.length;
			if (m !== n) return m < n ? -1 : 1;
		} else return x < y ? -1 : 1;
	}
	return left.length - right.length || (a < b ? -1 : a > b ? 1 : 0);
}

const parts = (text: string): string[] => text.match(/\d+|\D+/g) ?? [];
const isDigits = (part: string): boolean => /^\d/.test(part);
