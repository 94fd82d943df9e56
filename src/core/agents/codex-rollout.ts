// Codex's own record of a session, `sessions/Y/M/D/rollout-<time>-<thread>.jsonl`: the only place where it says exactly when a limit ends,
// and what it used in a turn that was broken off.

import { usedIn } from "./codex.ts";
import { resetIn } from "./codex-app-server.ts";
import type { Used } from "./happening.ts";
import { isObject, objectIn, objectOn } from "./json.ts";

export const isRolloutOf = (session: string) => (name: string) => name.startsWith("rollout-") && name.endsWith(`-${session}.jsonl`);

/** The end of such a file → when the limit that is reached ends, epoch milliseconds; null when it does not say. */
export function resetInRollout(text: string): number | null {
	let until: number | null = null;
	for (const line of text.split("\n")) {
		const payload = objectIn(objectOn(line)?.payload);
		if (payload.type !== "token_count") continue;
		until = resetIn(objectIn(payload.rate_limits), { share: "used_percent", reset: "resets_at" });
	}
	return until;
}

/** The same → what the session has used so far; null when it does not say. */
export function usedInRollout(text: string): Used | null {
	let used: Used | null = null;
	for (const line of text.split("\n")) {
		const payload = objectIn(objectOn(line)?.payload);
		const total = objectIn(payload.info).total_token_usage;
		if (payload.type === "token_count" && isObject(total)) used = usedIn(total);
	}
	return used;
}
