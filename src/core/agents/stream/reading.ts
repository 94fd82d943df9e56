// What an agent's lines have shown so far: a fold over its happenings, in bounded memory.

import { ADAPTERS } from "../index.ts";
import type { Format } from "../profile.ts";
import type { Happening, Json, Trouble, Used } from "./happening.ts";
import { NOTHING } from "./happening.ts";
import { beginningOf, DENIAL_MAX, DENIALS_MAX, isJson, objectOn, short, unique } from "./json.ts";
import { createLines } from "./lines.ts";
import { largest, plus } from "./used.ts";

const MESSAGE_MAX = 4000;
const TOOLS_MAX = 1000;
const NAME_MAX = 200;
const SETTLED_MAX = 10_000;
const SPREAD_MAX = 1_000_000;
/** Maximum calls that may still grow: several agents of one run may call the model at once. Older calls are kept only as a sum. */
const CALLS_MAX = 1000;

export type Reading = {
	session: string | null;
	/** The agent's last message. */
	message: string;
	/** Tools that are running, by id. */
	tools: Map<string, { name: string; text: string }>;
	tool_calls: number;
	turns: number;
	/** When the model began its last answer; set for programs that do not report a tool before it is done. */
	answering_at: number | null;
	/** Tool calls that were not allowed, as `tool: what`, without duplicates. */
	denied: string[];
	/** What the agent wanted a tool to ask a person. */
	asked: string[];
	retry: Trouble | null;
	limit: { until: number | null; assumed?: string | undefined } | null;
	trouble: Trouble | null;
	steps: Used | null;
	total: { scope: "process" | "session" | "either"; used: Used; own?: Used | undefined } | null;
	/** Tokens that went into the model, as far as single calls were reported. */
	seen: number;
	/** Calls since the last reported sum: the latest by id, and the sum of the older ones. */
	calls: { latest: Map<string, Used>; older: Used };
	ended: Extract<Happening, { is: "ended" }> | null;
	events: number;
	/** Number of lines that reported anything but a retry. */
	heard: number;
	/** The last line that was not an event. */
	noise: string;
	/** The last line was truncated. */
	cut: boolean;
	skipped: number;
	/** The program's version, if it prints one. */
	version: string | null;
	/** JSON lines that are not events known to the adapter: their number and length. */
	not_understood: number;
	unknown_bytes: number;
	/** The last event was unknown. */
	ends_unknown: boolean;
	/** Lines that are not JSON: their number and length. */
	other_lines: number;
	other_bytes: number;
};

export type StreamReader = {
	push(bytes: Uint8Array): void;
	/** Marks the end of the output. Can be called more than once. */
	end(): Reading;
	readonly reading: Reading;
};

const fresh = (): Reading => ({
	session: null,
	message: "",
	tools: new Map(),
	tool_calls: 0,
	turns: 0,
	answering_at: null,
	denied: [],
	asked: [],
	retry: null,
	limit: null,
	trouble: null,
	steps: null,
	total: null,
	seen: 0,
	calls: { latest: new Map(), older: NOTHING },
	ended: null,
	events: 0,
	heard: 0,
	noise: "",
	cut: false,
	skipped: 0,
	version: null,
	not_understood: 0,
	unknown_bytes: 0,
	ends_unknown: false,
	other_lines: 0,
	other_bytes: 0,
});

/** `onHappening` and `onNoise` are called for everything in order; the renderer uses them. */
export function createReader(
	format: Format,
	onHappening: (happening: Happening) => void = () => {},
	onNoise: (line: string) => void = () => {},
): StreamReader {
	const { interpret, knows } = ADAPTERS[format];
	const reading = fresh();
	let lastStep: string | undefined;
	/** Calls that the last sum includes. */
	const settled = new Set<string>();
	let isPiece = false;
	let loose: string | null = null;

	const line = (text: string) => {
		reading.heard++;
		if (format === "command") {
			if (text.trim() !== "") reading.message = short(text.trim(), MESSAGE_MAX);
			onNoise(text);
			return;
		}
		const event = objectOn(text) ?? spread(text);
		if (event === null) {
			onNoise(text);
			if (text.trim() !== "") other(text.trim());
			return;
		}
		sort(event, text.length);
	};
	/** A line that is not an event. Other JSON, and fragments of events, are not searched for causes: their words may be about anything. */
	const other = (text: string) => {
		if (isJson(text)) {
			reading.ends_unknown = true;
			reading.not_understood++;
			reading.unknown_bytes += text.length;
			return;
		}
		reading.other_lines++;
		reading.other_bytes += text.length;
		if (!text.startsWith('{"')) reading.noise = short(text, MESSAGE_MAX);
	};
	/** An object over several lines, as `gemini -o json` prints it: complete when its last line comes. */
	const spread = (text: string): Json | null => {
		if (text.startsWith("{")) loose = "";
		else if (loose === null) return null;
		loose = `${loose}${text}\n`;
		if (loose.length > SPREAD_MAX) loose = null;
		if (loose === null || !text.startsWith("}")) return null;
		const found = objectOn(loose);
		loose = null;
		return found;
	};
	const sort = (event: Json, length: number) => {
		reading.ends_unknown = !knows(event);
		if (!reading.ends_unknown) return see(interpret(event));
		reading.not_understood++;
		reading.unknown_bytes += length;
		// An unknown event gives only session and version: its other fields may have another meaning.
		for (const one of interpret(event)) if (one.is === "session" || one.is === "version") take(one);
	};
	const see = (happened: Happening[]) => {
		if (happened.length > 0) reading.events++;
		if (happened.some((one) => one.is === "retry")) reading.heard--;
		for (const one of happened) {
			take(one);
			onHappening(one);
		}
	};
	/** The call that was in trouble has been answered after all. */
	const goesOn = () => {
		reading.retry = null;
		reading.limit = null;
		reading.trouble = null;
		reading.ended = null;
	};
	const take = (one: Happening): void => {
		switch (one.is) {
			case "session":
				if (isSessionId(one.id)) reading.session = one.id;
				return;
			case "version":
				reading.version = short(one.text, NAME_MAX);
				return;
			case "said":
				goesOn();
				if (one.text === "") return;
				reading.message = short(isPiece && one.piece ? reading.message + one.text : one.text, MESSAGE_MAX);
				isPiece = one.piece === true;
				return;
			case "turn":
				reading.turns++;
				if (one.at) reading.answering_at = one.at;
				return;
			case "tool":
				goesOn();
				isPiece = false;
				if (!reading.tools.has(keyOf(one))) reading.tool_calls++;
				if (reading.tools.size < TOOLS_MAX) reading.tools.set(keyOf(one), { name: short(one.name, NAME_MAX), text: one.text });
				return;
			case "tool_done":
				if (one.how === "denied") addDenial(reading, short(denialOf(one, reading.tools.get(keyOf(one))), DENIAL_MAX));
				reading.tools.delete(keyOf(one));
				return;
			case "call":
				// A line repeated after the sum is already included in the sum.
				if (!settled.has(keyOf(one)) && takeCall(reading, keyOf(one), one.used) === "new") reading.turns++;
				goesOn();
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
				if (one.scope === "step") {
					if (one.id === undefined || one.id !== lastStep) reading.steps = plus(reading.steps ?? NOTHING, one.used);
					lastStep = one.id;
				} else {
					// One process may report several sums, each since the previous one; a repeated line reports the same sum again.
					const isAgain = reading.total !== null && reading.total.used.tokens === one.used.tokens;
					const own = one.own && reading.total?.own ? (isAgain ? reading.total.own : plus(reading.total.own, one.own)) : one.own;
					reading.total = { scope: one.scope, used: one.used, own };
					for (const id of reading.calls.latest.keys()) if (settled.size < SETTLED_MAX) settled.add(id);
					reading.calls = { latest: new Map(), older: NOTHING };
				}
				return;
			case "ended":
				reading.ended = one;
				reading.tools.clear();
				if (one.denied) reading.denied = unique(one.denied);
				if (one.asked) reading.asked = unique(one.asked);
				if (one.text !== "" && one.how === "well") reading.message = short(one.text, MESSAGE_MAX);
				return;
			case "thought":
				goesOn();
				return;
			case "notice":
				return;
			default:
				one satisfies never;
		}
	};

	const lines = createLines(line);
	return {
		push: (bytes) => lines.push(bytes),
		end() {
			const rest = lines.end();
			reading.skipped = lines.skipped;
			if (rest === null || rest.trim() === "") return reading;
			if (format === "command" || objectOn(rest) !== null || (loose !== null && rest.startsWith("}"))) line(rest);
			else {
				reading.cut = true;
				const some = beginningOf(rest);
				// A truncated sum may lack the field that says whose it is; single calls give the usage without it.
				const isSum = (one: Happening) => one.is === "used" && one.scope !== "step" && reading.seen > 0;
				if (some && knows(some)) see(interpret(some).filter((one) => !isSum(one)));
				else if (some)
					for (const one of interpret(some))
						if (one.is === "session") take(one);
						else line(rest);
			}
			return reading;
		},
		reading,
	};
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

/** Whether the model has said or done something, or reported usage. */
export const isAnswered = (reading: Pick<Reading, "message" | "tool_calls" | "seen" | "steps" | "not_understood">): boolean =>
	reading.message !== "" || reading.tool_calls > 0 || reading.seen > 0 || reading.steps !== null || reading.not_understood > 0;

/** Does not use `unique`, which is too slow for an agent that is refused a million times. */
function addDenial(reading: Reading, denial: string): void {
	if (reading.denied.length < DENIALS_MAX && !reading.denied.includes(denial)) reading.denied.push(denial);
}

const denialOf = ({ text }: { text: string }, tool: { name: string; text: string } | undefined): string =>
	tool === undefined ? text || "a tool" : tool.text === "" ? tool.name : `${tool.name}: ${tool.text}`;

const keyOf = ({ id }: { id: string }): string => short(id, NAME_MAX);

/** The id goes into a command line and a path. */
const isSessionId = (id: string) => /^[\w][\w.:-]{0,199}$/.test(id);
