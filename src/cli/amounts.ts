// Amounts as people write them: whole numbers, and dollars for micro-dollars.

import { usage } from "./failure.ts";

function whole(text: string, name: string): number {
	if (!/^-?\d{1,15}$/.test(text)) throw usage(`${name} must be a whole number, not ${JSON.stringify(text)}`);
	return Number(text);
}

export const wholeOrNone = (text: string, name: string): number | null => (text === "none" ? null : whole(text, name));

/** Money is stored in micro-dollars; people write dollars. */
export function amountOf(text: string, dim: string, name: string): number {
	const [, sign = "", units, parts = ""] = /^(-?)\$(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
	if (units === undefined) return whole(text, name);
	if (dim !== "cost_micro") throw usage(`${name}: ${JSON.stringify(text)} is money, and ${dim} is not`, "dollars go with cost_micro");
	return (sign === "-" ? -1 : 1) * (Number(units) * 1_000_000 + Number(parts.padEnd(6, "0")));
}
