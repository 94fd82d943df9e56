// Codex's own record of a session, `sessions/Y/M/D/rollout-<time>-<thread>.jsonl`: the only place where it says exactly when a limit ends,
// what it used in a turn that was broken off, and what became of commands that were over too soon for its events.

import { isSandboxRefusal, usedIn } from "./codex.ts";
import { resetIn } from "./codex-app-server.ts";
import { NOTHING, type Used } from "./happening.ts";
import { isObject, objectIn, objectOn, textIn } from "./json.ts";
import { plus, type Reading } from "./reading.ts";
import { risen } from "./usage.ts";

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

/** `mark`: what the session's own count has come to. `counted`: how far that has risen in this run. `late`: what it used and is not in the count, and never will be. */
export type RolloutUsage = { mark: Used; counted: Used; late: Used };

/**
 * The same, when the run began (epoch milliseconds) and the session's mark before it → what the run has used; null when it does not say.
 * The newer versions write down each answer when it comes (`token_usage_record`), but count it only after its tools are done: what was broken off in between
 * is lost to the count. A context that overflows sets the count to zero.
 */
export function usedInRollout(text: string, since: number, before: Used | null): RolloutUsage | null {
	const found: RolloutUsage = { mark: before ?? NOTHING, counted: NOTHING, late: NOTHING };
	let isTold = false;
	for (const line of text.split("\n")) {
		const entry = objectOn(line);
		const payload = objectIn(entry?.payload);
		const isEarlier = Date.parse(textIn(entry?.timestamp)) < since;
		if (entry?.type === "token_usage_record" && !isEarlier) {
			found.late = plus(found.late, usedIn(objectIn(payload.usage)));
			isTold = true;
		}
		const total = objectIn(payload.info).total_token_usage;
		if (payload.type !== "token_count" || !isObject(total)) continue;
		const used = usedIn(total);
		if (!isEarlier) {
			found.counted = plus(found.counted, risen(used, found.mark));
			if (used.tokens > found.mark.tokens) found.late = NOTHING;
			isTold = true;
		}
		if (!isEarlier || before === null) found.mark = used;
	}
	return isTold ? found : null;
}

/** A run that was broken off before it told a sum, with what its record tells. */
export const withRollout = (reading: Reading, found: RolloutUsage | null): Reading =>
	found === null
		? reading
		: { ...reading, total: { scope: "session", used: found.mark, own: found.counted }, calls: { ...reading.calls, older: found.late } };

/** The same → commands of the last turn that its sandbox refused. */
export function deniedInRollout(text: string): string[] {
	const lines = text.split("\n").map((line) => objectIn(objectOn(line)?.payload));
	const turn = lines.slice(lines.findLastIndex(({ type }) => type === "task_started") + 1);
	const commands = new Map<string, string>();
	const denied: string[] = [];
	for (const { type, call_id, arguments: given, output } of turn) {
		if (type === "function_call") commands.set(textIn(call_id), commandIn(textIn(given)));
		const command = type === "function_call_output" ? commands.get(textIn(call_id)) : undefined;
		if (!command) continue;
		const [, code = "0", said = ""] = /(?:exited with code|exit_code"?:) ?(\d+)([\s\S]*)/i.exec(textIn(output)) ?? [];
		if (code !== "0" && isSandboxRefusal(command, said)) denied.push(`shell: ${command}`);
	}
	return denied;
}

/** `{"cmd": "npm test"}`, or in older versions `{"command": ["bash", "-lc", "npm test"]}`. */
function commandIn(given: string): string {
	const { cmd, command } = objectOn(given) ?? {};
	return textIn(cmd) || (Array.isArray(command) ? textIn(command.at(-1)) : textIn(command));
}
