// Folds an agent's happenings into a reading.

import type { Happening, Used } from "./happening.ts";
import { NOTHING } from "./happening.ts";
import { DENIAL_MAX, DENIALS_MAX, MESSAGE_MAX, short, unique } from "./json.ts";
import type { Reading } from "./reading.ts";
import { largest, plus } from "./usage.ts";

const TOOLS_MAX = 1000;
const NAME_MAX = 200;
const SETTLED_MAX = 10_000;
/** Maximum calls that may still grow: several agents of one run may call the model at once. Older calls are kept only as a sum. */
const CALLS_MAX = 1000;

export class HappeningFold {
	readonly #reading: Reading;
	#lastStep: string | undefined;
	/** Calls that the last sum includes. */
	readonly #settled = new Set<string>();
	/** The last message may continue. */
	#isPiece = false;

	constructor(reading: Reading) {
		this.#reading = reading;
	}

	take(one: Happening): void {
		const reading = this.#reading;
		switch (one.is) {
			case "session":
				if (isSessionId(one.id)) reading.session = one.id;
				return;
			case "version":
				reading.version = short(one.text, NAME_MAX);
				return;
			case "said":
				goOn(reading);
				if (one.text === "") return;
				reading.message = short(this.#isPiece && one.piece ? reading.message + one.text : one.text, MESSAGE_MAX);
				this.#isPiece = one.piece === true;
				return;
			case "turn":
				reading.turns++;
				if (one.at) reading.answering_at = one.at;
				return;
			case "tool":
				goOn(reading);
				this.#isPiece = false;
				if (!reading.tools.has(keyOf(one))) reading.tool_calls++;
				if (reading.tools.size < TOOLS_MAX) reading.tools.set(keyOf(one), { name: short(one.name, NAME_MAX), text: one.text });
				return;
			case "tool_done":
				if (one.how === "denied") addDenial(reading, short(denialOf(one, reading.tools.get(keyOf(one))), DENIAL_MAX));
				reading.tools.delete(keyOf(one));
				return;
			case "call":
				// A line repeated after the sum is already included in the sum.
				if (!this.#settled.has(keyOf(one)) && takeCall(reading, keyOf(one), one.used) === "new") reading.turns++;
				goOn(reading);
				return;
			case "retry":
				reading.retry = one;
				return;
			case "limit":
				reading.limit = { until: one.until, assumed: one.assumed };
				return;
			case "trouble":
				reading.trouble = one;
				return;
			case "used":
				this.#takeUsage(one);
				return;
			case "ended":
				takeEnd(reading, one);
				return;
			case "thought":
				goOn(reading);
				return;
			case "notice":
				return;
			default:
				one satisfies never;
		}
	}

	#takeUsage({ scope, used, own, id }: Extract<Happening, { is: "used" }>): void {
		const reading = this.#reading;
		if (scope === "step") {
			if (id === undefined || id !== this.#lastStep) reading.steps = plus(reading.steps ?? NOTHING, used);
			this.#lastStep = id;
			return;
		}
		// One process may report several sums, each since the previous one; a repeated line reports the same sum again.
		const before = reading.total;
		const isAgain = before !== null && before.used.tokens === used.tokens;
		reading.total = { scope, used, own: own && before?.own ? (isAgain ? before.own : plus(before.own, own)) : own };
		for (const call of reading.calls.latest.keys()) if (this.#settled.size < SETTLED_MAX) this.#settled.add(call);
		reading.calls = { latest: new Map(), older: NOTHING };
	}
}

/** The call that was in trouble has been answered after all. */
function goOn(reading: Reading): void {
	reading.retry = null;
	reading.limit = null;
	reading.trouble = null;
	reading.ended = null;
}

function takeEnd(reading: Reading, one: Extract<Happening, { is: "ended" }>): void {
	reading.ended = one;
	reading.tools.clear();
	if (one.denied) reading.denied = unique(one.denied);
	if (one.asked) reading.asked = unique(one.asked);
	if (one.text !== "" && one.how === "well") reading.message = short(one.text, MESSAGE_MAX);
}

/** A call is reported again with each of its parts, and its numbers may grow. */
function takeCall(reading: Reading, id: string, used: Used): "new" | "known" {
	const { latest } = reading.calls;
	const before = latest.get(id);
	const now = before ? largest(before, used) : used;
	reading.seen += inputOf(now) - (before ? inputOf(before) : 0);
	latest.set(id, now);
	const [first] = latest;
	if (first && latest.size > CALLS_MAX) {
		latest.delete(first[0]);
		reading.calls.older = plus(reading.calls.older, first[1]);
	}
	return before ? "known" : "new";
}

const inputOf = ({ tokens, output_tokens }: Used): number => tokens - output_tokens;

/** Does not use `unique`, which is too slow for an agent that is refused a million times. */
function addDenial(reading: Reading, denial: string): void {
	if (reading.denied.length < DENIALS_MAX && !reading.denied.includes(denial)) reading.denied.push(denial);
}

const denialOf = ({ text }: { text: string }, tool: { name: string; text: string } | undefined): string =>
	tool === undefined ? text || "a tool" : tool.text === "" ? tool.name : `${tool.name}: ${tool.text}`;

const keyOf = ({ id }: { id: string }): string => short(id, NAME_MAX);

/** The id goes into a command line and a path. */
const isSessionId = (id: string) => /^[\w][\w.:-]{0,199}$/.test(id);
