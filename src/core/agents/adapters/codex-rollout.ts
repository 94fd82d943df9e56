// Codex's own session file, `sessions/Y/M/D/rollout-<time>-<thread>.jsonl`. It is the only place with the exact end of a limit, with the usage of a turn
// that was interrupted, and with the results of commands that ended too fast for an event.

import type { SessionRecord } from "../adapter.ts";
import { type Json, NOTHING, type Used } from "../stream/happening.ts";
import { isObject, objectIn, objectOn, textIn, unique } from "../stream/json.ts";
import type { Reading } from "../stream/reading.ts";
import { plus, risen, usedFrom } from "../stream/usage.ts";
import { resetIn } from "./codex-app-server.ts";

export const CODEX_ROLLOUT: SessionRecord = {
	folders: ["sessions", /^\d+$/, /^\d+$/, /^\d+$/],
	folders_max: 400,
	file: (session) => (name) => name.startsWith("rollout-") && name.endsWith(`-${session}.jsonl`),
	bytes: 256 * 1024,
	isWanted: () => true,
	complete(reading, texts, since, before) {
		const text = texts[0] ?? "";
		const denied = unique([...reading.denied, ...deniedInRollout(text)]);
		const used = reading.total === null ? usedInRollout(text, since, before) : null;
		return { reading: { ...withRollout(reading, used), denied }, reset: resetInRollout(text) };
	},
};

/** `text`: the end of a session file. Returns when the limit that was reached ends, epoch milliseconds; null if the file does not say. */
export function resetInRollout(text: string): number | null {
	let until: number | null = null;
	for (const line of text.split("\n")) {
		const payload = objectIn(objectOn(line)?.payload);
		if (payload.type !== "token_count") continue;
		until = resetIn(objectIn(payload.rate_limits), { share: "used_percent", reset: "resets_at" });
	}
	return until;
}

/** `mark`: the session's own counter now. `counted`: how far it rose during this run. `late`: usage that the counter misses, and always will. */
export type RolloutUsage = { mark: Used; counted: Used; late: Used };

/**
 * `text`: the end of a session file. `since`: when the run began, epoch milliseconds. `before`: the session's counter before the run. Returns what the run
 * used; null if the file does not say. Newer versions write a `token_usage_record` for each answer at once, but add it to the counter only after its tools
 * are done: the counter misses an answer that was interrupted in between. A context overflow resets the counter to zero.
 */
export function usedInRollout(text: string, since: number, before: Used | null): RolloutUsage | null {
	const found: RolloutUsage = { mark: before ?? NOTHING, counted: NOTHING, late: NOTHING };
	let isFound = false;
	for (const line of text.split("\n")) {
		const entry = objectOn(line);
		const payload = objectIn(entry?.payload);
		const isEarlier = Date.parse(textIn(entry?.timestamp)) < since;
		if (entry?.type === "token_usage_record" && !isEarlier) {
			found.late = plus(found.late, usedIn(objectIn(payload.usage)));
			isFound = true;
		}
		const total = objectIn(payload.info).total_token_usage;
		if (payload.type !== "token_count" || !isObject(total)) continue;
		const used = usedIn(total);
		if (!isEarlier) {
			found.counted = plus(found.counted, risen(used, found.mark));
			if (used.tokens > found.mark.tokens) found.late = NOTHING;
			isFound = true;
		}
		if (!isEarlier || before === null) found.mark = used;
	}
	return isFound ? found : null;
}

/** Adds the usage from the session file to a run that was interrupted before it printed a sum. */
const withRollout = (reading: Reading, found: RolloutUsage | null): Reading =>
	found === null
		? reading
		: { ...reading, total: { scope: "session", used: found.mark, own: found.counted }, calls: { ...reading.calls, older: found.late } };

/** `text`: the end of a session file. Returns the commands of the last turn that Codex's sandbox refused. */
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

/**
 * Whether a command's output shows that the sandbox blocked it. Git that may not write its own folder does not count: Sluice commits what an agent leaves
 * uncommitted. A blocked network is not recognised, because each command words that differently.
 */
export const isSandboxRefusal = (command: string, said: string): boolean =>
	/read-only file system|operation not permitted|requires approval|rejected by user approval|blocked by (?:the )?sandbox/i.test(said) &&
	!(/\bgit\b/.test(command) && /index\.lock|\.git\//.test(said));

export const usedIn = (usage: Json): Used =>
	usedFrom(usage, [null, "input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens"]);
