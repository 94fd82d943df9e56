// Amounts as people write them: whole numbers, and dollars for micro-dollars.

import type { Call } from "./command.ts";
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

/** `--window` and `--warn-at` of a grant. */
export function windowOf(call: Call): { window: "hour" | "day" | null | undefined; warn_at: number | undefined } {
	const [window, share] = [call.choice("window", ["hour", "day", "none"]), call.text("warn-at")];
	if (share !== undefined && !/^(?:0?\.\d+|[01](?:\.0+)?)$/.test(share))
		throw usage("--warn-at must be a share from 0 to 1", "for example 0.8");
	return { window: window === "none" ? null : window, warn_at: share === undefined ? undefined : Number(share) };
}
