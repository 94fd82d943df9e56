// Adapters on what the real programs printed, changed the way that a later version, a wrapper or a broken pipe would change it. The outcome stays what it was, or says honestly
// that the output was not understood or breaks off. It is never better than the run was, never closes an account that was not refused, never charges more than was used.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Judgement } from "../../src/core/agents/judge.ts";
import { NOTHING, type Outcome } from "../../src/core/agents/stream/happening.ts";
import { type Capture, captures, judged } from "../make/agents/capture.ts";

type Mutation = (lines: readonly string[], of: Capture) => string;
type Event = Record<string, unknown>;

const ALL = captures();
const NAMES = ALL.map(({ name }) => name);
const capture = (name: string) => ALL.find((one) => one.name === name) as Capture;
const linesOf = ({ stdout }: Capture) => stdout.toString().split("\n").filter(Boolean);
const whole = (lines: readonly string[]) => `${lines.join("\n")}\n`;
const changed = (line: string, change: (event: Event) => unknown): string => {
	try {
		return JSON.stringify(change(JSON.parse(line)));
	} catch {
		return line;
	}
};
const everywhere = (value: unknown, change: (leaf: unknown) => unknown): unknown => {
	if (Array.isArray(value)) return value.map((one) => everywhere(one, change));
	if (typeof value !== "object" || value === null) return change(value);
	return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, everywhere(one, change)]));
};
/** Every place in an event: the way to each of its members. */
const places = (value: unknown, way: string[] = []): string[][] =>
	typeof value !== "object" || value === null
		? []
		: Object.entries(value).flatMap(([key, one]) => [[...way, key], ...places(one, [...way, key])]);
const at = (event: Event, [key = "", ...rest]: string[], change: (holder: Event, key: string) => void): void => {
	if (rest.length === 0) change(event, key);
	else at(event[key] as Event, rest, change);
};

/** One line of JSON, and one place in it. */
const somewhere = (lines: readonly string[], line: number, place: number, change: (holder: Event, key: string) => void): string => {
	const events = lines.flatMap((text, index) => (text.startsWith("{") ? [index] : []));
	const chosen = events[line % Math.max(1, events.length)];
	return whole(
		lines.map((text, index) =>
			index !== chosen
				? text
				: changed(text, (event) => {
						const all = places(event);
						if (all.length > 0) at(event, all[place % all.length] as string[], change);
						return event;
					}),
		),
	);
};

const from = fc.oneof(fc.constant(0), fc.nat(40));
const MUTATIONS: Record<string, fc.Arbitrary<Mutation>> = {
	"all types renamed": fc.constantFrom("x.", "v2_").map(
		(prefix) => (lines) =>
			whole(
				lines.map((line) =>
					changed(line, (e) => ({
						...e,
						type: `${prefix}${e.type}`,
						...(e.method === undefined ? {} : { method: `${prefix}${e.method}` }),
					})),
				),
			),
	),
	"one type renamed": fc.nat(10).map((which) => (lines) => {
		const types = [...new Set(lines.flatMap((line) => /"type":"([\w.]+)"/.exec(line)?.[1] ?? []))];
		const gone = types[which % Math.max(1, types.length)];
		return whole(lines.map((line) => changed(line, (e) => (e.type === gone ? { ...e, type: `${gone}_v2` } : e))));
	}),
	"the key of the type renamed": fc
		.constantFrom("kind", "event", "Type")
		.map((key) => (lines) => whole(lines.map((line) => changed(line, ({ type, ...e }) => ({ ...e, [key]: type }))))),
	"events wrapped": fc.tuple(fc.constantFrom("event", "data", "msg", "payload"), from).map(
		([key, first]) =>
			(lines) =>
				whole(lines.map((line, index) => (index < first ? line : changed(line, (e) => ({ [key]: e }))))),
	),
	"events in a list": from.map((first) => (lines) => whole(lines.map((line, index) => (index < first ? line : changed(line, (e) => [e]))))),
	"the stream cut off": fc.double({ min: 0, max: 1, noNaN: true }).map(
		(share) =>
			(_lines, { stdout }) =>
				stdout.toString().slice(0, Math.floor(stdout.length * share)),
	),
	"a line cut": fc.tuple(fc.nat(100), fc.double({ min: 0, max: 1, noNaN: true })).map(
		([which, share]) =>
			(lines) =>
				whole(lines.map((line, index) => (index === which % lines.length ? line.slice(0, Math.floor(line.length * share)) : line))),
	),
	"lines doubled": fc
		.array(fc.nat(100), { maxLength: 6 })
		.map((which) => (lines) => whole(lines.flatMap((line, index) => (which.includes(index) ? [line, line] : [line])))),
	"everything doubled": fc.constant((lines: readonly string[]) => whole(lines.flatMap((line) => [line, line]))),
	"lines of another program in between": fc
		.tuple(fc.nat(), fc.array(fc.nat(100), { maxLength: 30 }))
		.map(([which, order]) => (lines, of) => {
			const others = ALL.filter(({ format }) => format !== of.format);
			const mixed = [...lines];
			for (const [index, line] of linesOf(others[which % others.length] as Capture).entries())
				mixed.splice((order[index] ?? 100) % (mixed.length + 1), 0, line);
			return whole(mixed);
		}),
	CRLF: fc.constant((lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join("")),
	"numbers as text": fc.constant((lines: readonly string[]) =>
		whole(lines.map((line) => changed(line, (e) => everywhere(e, (leaf) => (typeof leaf === "number" ? String(leaf) : leaf))))),
	),
	"truth as text": fc.constant((lines: readonly string[]) =>
		whole(lines.map((line) => changed(line, (e) => everywhere(e, (leaf) => (typeof leaf === "boolean" ? String(leaf) : leaf))))),
	),
	"a key removed": fc.tuple(fc.nat(), fc.nat()).map(
		([line, place]) =>
			(lines) =>
				somewhere(lines, line, place, (holder, key) => delete holder[key]),
	),
	"a value of another type": fc.tuple(fc.nat(), fc.nat(), fc.constantFrom(null, "", "x", 0, 1, -1, true, false, [], {}, [1], { a: 1 })).map(
		([line, place, value]) =>
			(lines) =>
				somewhere(lines, line, place, (holder, key) => {
					if (typeof holder[key] !== typeof value) holder[key] = value;
				}),
	),
	"unknown events inserted": fc
		.array(
			fc.tuple(
				fc.nat(100),
				fc.constantFrom('{"type":"x.new"}', '{"telemetry":{"a":1}}', '{"type":"hologram","usage":{"input_tokens":9999}}'),
			),
			{ maxLength: 8 },
		)
		.map((extra) => (lines) => {
			const more = [...lines];
			for (const [index, line] of extra) more.splice(index % (more.length + 1), 0, line);
			return whole(more);
		}),
	"neighbours swapped": fc.array(fc.nat(100), { maxLength: 4 }).map((which) => (lines) => {
		const swapped = [...lines];
		// The end stays the end.
		for (const one of which) {
			const index = one % Math.max(1, swapped.length - 2);
			const [a, b] = [swapped[index], swapped[index + 1]];
			if (a !== undefined && b !== undefined && index + 2 < swapped.length) [swapped[index], swapped[index + 1]] = [b, a];
		}
		return whole(swapped);
	}),
	"stderr in stdout": fc.array(fc.nat(100), { maxLength: 60 }).map((order) => (lines, { stderr }) => {
		const mixed = [...lines];
		for (const [index, line] of stderr.split("\n").entries()) mixed.splice((order[index] ?? 100) % (mixed.length + 1), 0, line);
		return whole(mixed);
	}),
};

const SWAPPED = "neighbours swapped";
const DOUBLED = ["lines doubled", "everything doubled"];
const LOSES_ID = ["a key removed", "a value of another type"];

const HONEST: readonly Outcome[] = ["needs_human", "transient", "crashed"];
/** Holds of an account: less is known of why, or for how long. */
const HELD: readonly Outcome[] = ["limited", "throttled", "billing", "auth"];

/** Ended from outside; what it was at is not known any more. */
const SIGNALS = [124, 130, 137, 143];
const CLOSES: readonly Outcome[] = ["billing", "auth"];

/** What single answers of the model tell, where Claude Code's last word tells less: of a run that was broken off. */
function toldByCalls(stdout: string): number {
	const calls = new Map<string, number>();
	for (const line of stdout.split("\n")) {
		const [, id, usage] = /"message":\{.*?"id":"([^"]+)".*?"usage":(\{[^}]*\})/.exec(line) ?? [];
		const parts = [...(usage ?? "").matchAll(/"(?:input|output|cache_creation_input|cache_read_input)_tokens":(\d+)/g)].map((part) =>
			Number(part[1]),
		);
		if (id !== undefined)
			calls.set(
				id,
				Math.max(
					calls.get(id) ?? 0,
					parts.reduce((sum, part) => sum + part, 0),
				),
			);
	}
	return [...calls.values()].reduce((sum, one) => sum + one, 0);
}

const USED = new Map(ALL.map(({ name, stdout }) => [name, toldByCalls(stdout.toString())]));
const mostUsed = (name: string, { used }: Judgement) => Math.max(used.tokens, USED.get(name) ?? 0);
/** What the session had used before, which the daemon knows of a run that it resumes: a version may report the session's sum alone. */
const BEFORE = new Map(
	ALL.filter(({ name }) => name.endsWith("-resume")).map(({ name }) => [name, judged(capture(name.replace(/resume$/, "ok"))).total]),
);
const judgedAs = (made: Capture, stdout: string | Buffer = made.stdout): Judgement =>
	judged({ ...made, stdout }, { before: BEFORE.get(made.name) ?? NOTHING });
const PLAIN = new Map(ALL.map((made) => [made.name, judgedAs(made)]));
const plainOf = ({ name }: Capture) => PLAIN.get(name) as Judgement;

/** Why this judgement is not a fair one of a run that ended like `plain`; null when it is. `copies`: how often a report may have been counted. */
function unfair({ name, code, stdout }: Capture, plain: Judgement, found: Judgement, mutated: string, copies = 1): string | null {
	const most = copies * mostUsed(name, plain);
	if (found.used.tokens > most) return `${found.used.tokens} tokens are charged, ${most} were used`;
	if ((found.used.cost_micro ?? 0) > copies * (plain.used.cost_micro ?? 0))
		return `${found.used.cost_micro} is charged, ${plain.used.cost_micro} was`;
	if (found.outcome === plain.outcome || HONEST.includes(found.outcome)) return null;
	// The words with which it asked are gone from what it wrote.
	if (plain.outcome === "needs_human" && found.outcome === "ok" && !mutated.includes((plain.message ?? "").slice(-20))) return null;
	// It told of that, and what came after is lost.
	if (found.outcome === "throttled" && stdout.includes("429")) return null;
	if (found.outcome === "killed" && SIGNALS.includes(code)) return null;
	if (CLOSES.includes(found.outcome) && CLOSES.includes(plain.outcome)) return null;
	if (found.outcome === "limited" || found.outcome === "throttled")
		return HELD.includes(plain.outcome) ? null : `${found.outcome}, was ${plain.outcome}`;
	return `${found.outcome}, was ${plain.outcome}`;
}

describe("a recording that was changed is judged as it was, or honestly as not understood", () => {
	test.each(Object.entries(MUTATIONS))("%s", (_name, mutation) => {
		fc.assert(
			fc.property(fc.constantFrom(...NAMES), mutation, (name, mutate) => {
				const made = capture(name);
				const stdout = mutate(linesOf(made), made);
				const plain = plainOf(made);
				const found = judgedAs(made, stdout);
				expect(unfair(made, plain, found, stdout), `${name}: ${found.message?.slice(0, 300)}\n${stdout.slice(-1500)}`).toBeNull();
			}),
			{ numRuns: Number(process.env.SLUICE_FUZZ_RUNS ?? 150) },
		);
	});

	test("the last event cut at every place, with and without an end of line", () => {
		for (const made of ALL) {
			const text = made.stdout.toString().trimEnd();
			const plain = plainOf(made);
			for (let end = text.lastIndexOf("\n") + 1; end < text.length; end += 29)
				for (const stdout of [text.slice(0, end), `${text.slice(0, end)}\n`])
					expect(unfair(made, plain, judgedAs(made, stdout), stdout), `${made.name}, cut at ${end}`).toBeNull();
		}
	});

	test("several changes at once", () => {
		const named = Object.entries(MUTATIONS).map(([what, mutation]) => mutation.map((mutate) => ({ what, mutate })));
		const some = fc.array(fc.oneof(...named), { minLength: 2, maxLength: 3 });
		fc.assert(
			fc.property(fc.constantFrom(...NAMES), some, (name, drawn) => {
				const made = capture(name);
				// Neighbours are swapped first: with lines of other changes behind it, the end would not stay the end.
				const mutations = [...drawn].sort((a, b) => Number(b.what === SWAPPED) - Number(a.what === SWAPPED));
				let stdout = made.stdout.toString();
				for (const { mutate } of mutations) stdout = mutate(stdout.split("\n").filter(Boolean), { ...made, stdout: Buffer.from(stdout) });
				const plain = plainOf(made);
				const found = judgedAs(made, stdout);
				// A report that has lost its id cannot be told from a second one.
				const copies = drawn.some(({ what }) => LOSES_ID.includes(what))
					? 2 ** drawn.filter(({ what }) => DOUBLED.includes(what)).length
					: 1;
				expect(unfair(made, plain, found, stdout, copies), `${name}: ${found.message?.slice(0, 300)}\n${stdout.slice(-1500)}`).toBeNull();
			}),
			{ numRuns: Number(process.env.SLUICE_FUZZ_RUNS ?? 300) },
		);
	});
});
