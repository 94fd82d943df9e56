// Notifications of Codex's app-server, as far as they correspond to events of `exec --json`.

import { causeIn, causeOfText, firstKnown } from "../stream/causes.ts";
import type { Cause, Happening, Json } from "../stream/happening.ts";
import { countIn, isObject, objectIn, secondsIn, short, textIn } from "../stream/json.ts";
import { usedFrom } from "../stream/usage.ts";

const CAUSES: Record<string, Cause> = {
	contextWindowExceeded: "context",
	sessionBudgetExceeded: "budget",
	usageLimitExceeded: "limited",
	serverOverloaded: "transient",
	internalServerError: "transient",
	httpConnectionFailed: "transient",
	responseStreamConnectionFailed: "transient",
	responseStreamDisconnected: "transient",
	responseTooManyFailedAttempts: "transient",
	unauthorized: "auth",
};

function causeOf(error: Json): Cause {
	const info = error.codexErrorInfo;
	const word = isObject(info) ? (Object.keys(info)[0] ?? "") : textIn(info);
	const known = causeIn(CAUSES, word);
	return known !== "unknown" && known !== "transient" ? known : firstKnown(causeOfText(textIn(error.message)), known);
}

export function interpretAppServer(method: string, params: Json): Happening[] {
	switch (method) {
		case "thread/started":
			return [{ is: "session", id: textIn(objectIn(params.thread).id) }];
		case "turn/started":
			return [{ is: "turn" }];
		case "item/started":
		case "item/completed":
			return item(method === "item/completed" ? "completed" : "started", objectIn(params.item));
		case "thread/tokenUsage/updated": {
			const total = objectIn(objectIn(params.tokenUsage).total);
			const all = countIn(total.totalTokens) === 0 ? null : "totalTokens";
			const used = usedFrom(total, [all, "inputTokens", "outputTokens", "cachedInputTokens", "cacheWriteInputTokens"]);
			return [{ is: "used", scope: "session", used }];
		}
		case "account/rateLimits/updated": {
			const until = resetIn(objectIn(params.rateLimits), { share: "usedPercent", reset: "resetsAt" });
			return until === null ? [] : [{ is: "limit", until }];
		}
		case "error": {
			const error = objectIn(params.error);
			return [{ is: params.willRetry === true ? "retry" : "trouble", cause: causeOf(error), text: textIn(error.message) }];
		}
		case "turn/completed": {
			const turn = objectIn(params.turn);
			if (turn.status === "completed") return [{ is: "ended", how: "well", cause: "unknown", text: "" }];
			const error = objectIn(turn.error);
			const cause = turn.status === "interrupted" ? "aborted" : causeOf(error);
			return [{ is: "ended", how: "badly", cause, text: textIn(error.message) }];
		}
		default:
			return [];
	}
}

function item(state: "started" | "completed", one: Json): Happening[] {
	const id = textIn(one.id);
	if (one.type === "agentMessage") return state === "completed" ? [{ is: "said", text: textIn(one.text) }] : [];
	if (one.type !== "commandExecution" && one.type !== "fileChange" && one.type !== "mcpToolCall") return [];
	const started: Happening = {
		is: "tool",
		id,
		name: one.type === "commandExecution" ? "shell" : textIn(one.type),
		text: short(textIn(one.command), 500),
	};
	if (state === "started") return [started];
	const how = one.status === "declined" ? "denied" : one.status === "failed" ? "failed" : "ok";
	return [started, { is: "tool_done", id, how, text: short(textIn(one.aggregatedOutput), 2000) }];
}

/** When the last of the exhausted windows resets; null if none is exhausted. */
export function resetIn(limits: Json, keys: { share: string; reset: string }): number | null {
	let until: number | null = null;
	for (const window of [objectIn(limits.primary), objectIn(limits.secondary)]) {
		const [share, reset] = [window[keys.share], secondsIn(window[keys.reset])];
		if (typeof share === "number" && share >= 100 && reset !== null) until = Math.max(until ?? 0, reset);
	}
	return until;
}
