// What an agent's lines have shown so far, in bounded memory: lines → events → happenings, which fold.ts folds into the reading.

import { ADAPTERS } from "../index.ts";
import type { Format } from "../profile.ts";
import { HappeningFold } from "./fold.ts";
import type { Happening, Json, Trouble, Used } from "./happening.ts";
import { NOTHING } from "./happening.ts";
import { beginningOf, isJson, MESSAGE_MAX, objectOn, short } from "./json.ts";
import { createLines } from "./lines.ts";

const SPREAD_MAX = 1_000_000;

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

export type StreamReader = ReturnType<typeof createReader>;

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
) {
	const { interpret, knows } = ADAPTERS[format];
	const reading = fresh();
	const fold = new HappeningFold(reading);
	const spread = createSpread();

	const line = (text: string) => {
		reading.heard++;
		if (format === "command") {
			if (text.trim() !== "") reading.message = short(text.trim(), MESSAGE_MAX);
			onNoise(text);
			return;
		}
		const event = objectOn(text) ?? spread.take(text);
		if (event === null) {
			onNoise(text);
			if (text.trim() !== "") takeOther(reading, text.trim());
			return;
		}
		reading.ends_unknown = !knows(event);
		if (!reading.ends_unknown) {
			see(interpret(event));
			return;
		}
		reading.not_understood++;
		reading.unknown_bytes += text.length;
		// An unknown event gives only session and version: its other fields may have another meaning.
		for (const one of interpret(event)) if (one.is === "session" || one.is === "version") fold.take(one);
	};
	const see = (happened: Happening[]) => {
		if (happened.length > 0) reading.events++;
		if (happened.some((one) => one.is === "retry")) reading.heard--;
		for (const one of happened) {
			fold.take(one);
			onHappening(one);
		}
	};
	/** The last line, without a line end and perhaps truncated. */
	const lastLine = (rest: string) => {
		if (format === "command" || objectOn(rest) !== null || (spread.isOpen && rest.startsWith("}"))) {
			line(rest);
			return;
		}
		reading.cut = true;
		const some = beginningOf(rest);
		// A truncated sum may lack the field that says whose it is; single calls give the usage without it.
		const isSum = (one: Happening) => one.is === "used" && one.scope !== "step" && reading.seen > 0;
		if (some && knows(some)) see(interpret(some).filter((one) => !isSum(one)));
		else if (some) {
			for (const one of interpret(some)) if (one.is === "session") fold.take(one);
		} else line(rest);
	};

	const lines = createLines(line);
	return {
		push: (bytes: Uint8Array) => lines.push(bytes),
		/** Marks the end of the output. Can be called more than once. */
		end(): Reading {
			const rest = lines.end();
			reading.skipped = lines.skipped;
			if (rest !== null && rest.trim() !== "") lastLine(rest);
			return reading;
		},
		reading,
	};
}

/** A line that is not an event. Other JSON, and fragments of events, are not searched for causes: their words may be about anything. */
function takeOther(reading: Reading, text: string): void {
	if (isJson(text)) {
		reading.ends_unknown = true;
		reading.not_understood++;
		reading.unknown_bytes += text.length;
		return;
	}
	reading.other_lines++;
	reading.other_bytes += text.length;
	if (!text.startsWith('{"')) reading.noise = short(text, MESSAGE_MAX);
}

/** Puts an object over several lines together, as `gemini -o json` prints it: complete when its last line comes. */
function createSpread(): { take(line: string): Json | null; readonly isOpen: boolean } {
	let open: string | null = null;
	return {
		take(line) {
			if (line.startsWith("{")) open = "";
			else if (open === null) return null;
			open = `${open}${line}\n`;
			if (open.length > SPREAD_MAX) open = null;
			if (open === null || !line.startsWith("}")) return null;
			const found = objectOn(open);
			open = null;
			return found;
		},
		get isOpen() {
			return open !== null;
		},
	};
}

/** Whether the model has said or done something, or reported usage. */
export const isAnswered = (reading: Pick<Reading, "message" | "tool_calls" | "seen" | "steps" | "not_understood">): boolean =>
	reading.message !== "" || reading.tool_calls > 0 || reading.seen > 0 || reading.steps !== null || reading.not_understood > 0;
