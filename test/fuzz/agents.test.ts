// Adapters on output that nobody has seen: other key order, unknown events, lines cut anywhere, lines of others in between, lines that are too long, garbage.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { FORMATS } from "../../src/core/agents/profile.ts";
import { OUTCOMES } from "../../src/core/agents/stream/happening.ts";
import { createLines, MAX_LINE } from "../../src/core/agents/stream/lines.ts";
import { createReader } from "../../src/core/agents/stream/reading.ts";
import { createRenderer } from "../../src/core/agents/stream/render.ts";
import { type Capture, captures, judged } from "../make/agents/capture.ts";

const ALL = captures();
const scenario = fc.constantFrom(...ALL);
const linesOf = ({ stdout }: Capture) => stdout.toString().split("\n").filter(Boolean);
const verdict = (made: Capture, lines: readonly string[], stderr = made.stderr) => {
	const { outcome, until, session, used, message } = judged({ ...made, stdout: `${lines.join("\n")}\n`, stderr });
	return { outcome, until, session, used, message };
};

function shuffled(value: unknown, order: number): unknown {
	if (Array.isArray(value)) return value.map((one) => shuffled(one, order));
	if (typeof value !== "object" || value === null) return value;
	const entries = Object.entries(value);
	const at = entries.length === 0 ? 0 : order % entries.length;
	return Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)].reverse().map(([key, one]) => [key, shuffled(one, order)]));
}
const rewritten = (line: string, change: (event: Record<string, unknown>) => unknown): string => {
	try {
		return JSON.stringify(change(JSON.parse(line)));
	} catch {
		return line;
	}
};

describe("the same outcome", () => {
	test("whatever the order of keys", () => {
		fc.assert(
			fc.property(scenario, fc.nat(50), (made, order) => {
				const lines = linesOf(made).map((line) => rewritten(line, (event) => shuffled(event, order)));
				expect(verdict(made, lines)).toEqual(verdict(made, linesOf(made)));
			}),
		);
	});

	test("with events and fields that nobody knows", () => {
		// Recordings without an end that exited with 0 are left out: an unknown last event may have been the end.
		const whole = fc.constantFrom(...ALL.filter(({ name }) => !/-stopped$|-at-once$/.test(name)));
		// As a later version might have them: never one of the words that mean something today.
		const strange = fc.record({
			type: fc.constantFrom("x.new", "telemetry", "system", "item.completed"),
			subtype: fc.constant("x"),
			item: fc.record({ type: fc.constant("hologram") }),
			payload: fc.jsonValue(),
		});
		fc.assert(
			fc.property(whole, fc.array(fc.tuple(fc.nat(100), strange), { maxLength: 8 }), (made, extra) => {
				const lines = linesOf(made).map((line) => rewritten(line, (event) => ({ ...event, x_new_field: { deep: [1, null, "x"] } })));
				for (const [at, event] of extra) lines.splice(at % (lines.length + 1), 0, JSON.stringify(event));
				expect(verdict(made, lines)).toEqual(verdict(made, linesOf(made)));
			}),
		);
	});

	test("with lines of others in between", () => {
		const said = fc.constantFrom(
			"npm warn something",
			"(node:12) Warning: {…}",
			"Reading additional input from stdin...",
			"",
			"[1,2,3]",
			"null",
			'"text"',
			"\u001b[31mred\u001b[0m",
		);
		const made = fc.constantFrom(...ALL.filter(({ name }) => /-(?:ok|tool|unirej|usagelimit|429day|credit|ctx)$/.test(name)));
		fc.assert(
			fc.property(made, fc.array(fc.tuple(fc.nat(100), said), { maxLength: 8 }), (one, extra) => {
				const lines = linesOf(one);
				for (const [at, line] of extra) lines.splice(at % (lines.length + 1), 0, line);
				expect(verdict(one, lines)).toEqual(verdict(one, linesOf(one)));
				// Without an end of line of its own.
				const glued = linesOf(one).map((line, at) => (at % 2 === 0 ? `a warning: ${line}` : line));
				if (one.format !== "codex") expect(verdict(one, glued).outcome).toBe(verdict(one, linesOf(one)).outcome);
			}),
		);
	});

	test("in whatever pieces it comes", () => {
		fc.assert(
			fc.property(scenario, fc.integer({ min: 1, max: 5000 }), (made, size) => {
				const reader = createReader(made.format);
				for (let at = 0; at < made.stdout.length; at += size) reader.push(made.stdout.subarray(at, at + size));
				const whole = createReader(made.format);
				whole.push(made.stdout);
				expect(reader.end()).toEqual(whole.end());
			}),
			{ numRuns: 60 },
		);
	});

	test("with an event of 10 MB in between", () => {
		for (const made of ALL.filter(({ name }) => /-tool$/.test(name) && !name.includes("appserver"))) {
			const big = rewritten(linesOf(made)[0] as string, (event) => ({ ...event, filler: "x".repeat(MAX_LINE - 200_000) }));
			expect(verdict(made, [big, ...linesOf(made)])).toEqual(verdict(made, linesOf(made)));
		}
	});
});

describe("a stated outcome, and never an exception", () => {
	test("cut off anywhere", () => {
		fc.assert(
			fc.property(scenario, fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1, 137), (made, share, code) => {
				const stdout = made.stdout.subarray(0, Math.floor(made.stdout.length * share));
				expect(OUTCOMES).toContain(judged({ ...made, stdout, code }).outcome);
			}),
			{ numRuns: 300 },
		);
	});

	test("a last line that is cut is read as far as it goes", () => {
		const made = ALL.find(({ name }) => name === "claude-ok") as Capture;
		const cut = made.stdout.subarray(0, made.stdout.length - 40);
		expect(judged({ ...made, stdout: cut }).outcome).toBe("ok");
		const limited = ALL.find(({ name }) => name === "claude-unirej") as Capture;
		expect(judged({ ...limited, stdout: limited.stdout.subarray(0, limited.stdout.length - 500) }).outcome).toBe("limited");
	});

	test("fields of any type in events that are known", () => {
		const values = fc.oneof(fc.jsonValue(), fc.constant(Number.MAX_VALUE), fc.constant(-1), fc.string());
		fc.assert(
			fc.property(scenario, fc.nat(), fc.nat(), values, (made, line, key, value) => {
				const lines = linesOf(made);
				if (lines.length === 0) return;
				lines[line % lines.length] = rewritten(lines[line % lines.length] as string, (event) => {
					const keys = Object.keys(event);
					return { ...event, [keys[key % Math.max(1, keys.length)] ?? "x"]: value };
				});
				const found = judged({ ...made, stdout: lines.join("\n") });
				expect(OUTCOMES).toContain(found.outcome);
				for (const amount of Object.values(found.used)) if (amount !== null) expect(Number.isSafeInteger(amount) && amount >= 0).toBe(true);
				if (found.session !== null) expect(found.session).toMatch(/^\w[\w.:-]*$/);
			}),
			{ numRuns: 500 },
		);
	});

	test("an event that goes deeper than anybody can follow", () => {
		const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
		const tool = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"T","input":{"a":${deep}}}]}}`;
		const made = ALL.find(({ name }) => name === "claude-ok") as Capture;
		expect(verdict(made, [tool, ...linesOf(made)])).toEqual(verdict(made, linesOf(made)));
		const shown = createRenderer("claude");
		expect(shown.push(`${[tool, ...linesOf(made)].join("\n")}\n`)).toMatch(/tokens, \$/);
	});

	test("garbage", () => {
		fc.assert(
			fc.property(
				fc.constantFrom(...FORMATS),
				fc.uint8Array({ maxLength: 3000 }),
				fc.integer({ min: 0, max: 255 }),
				(format, bytes, code) => {
					const found = judged({ format, stdout: bytes, stderr: "", code });
					expect(OUTCOMES).toContain(found.outcome);
					if (format !== "command" && code === 0) expect(found.outcome).not.toBe("ok");
				},
			),
		);
	});
});

describe("bounded memory", () => {
	test("a line without an end is let go, and what comes after it is read", () => {
		const seen: string[] = [];
		const lines = createLines((line) => seen.push(line), 100);
		for (let part = 0; part < 1000; part++) lines.push(Buffer.alloc(60, "x"));
		lines.push(Buffer.from("\nafter\nlast"));
		expect(seen).toEqual(["after"]);
		expect(lines.skipped).toBe(1);
		expect(lines.end()).toBe("last");
	});

	test("tools with long names that never end are not kept whole", () => {
		const reader = createReader("claude");
		const long = "n".repeat(1_000_000);
		for (let n = 0; n < 50; n++) {
			const part = { type: "tool_use", id: `${n}${long}`, name: long, input: {} };
			reader.push(Buffer.from(`${JSON.stringify({ type: "assistant", message: { id: "m", content: [part] } })}\n`));
		}
		const kept = [...reader.reading.tools].map(([id, { name, text }]) => id.length + name.length + text.length);
		expect(kept).toHaveLength(50);
		expect(Math.max(...kept)).toBeLessThan(2000);
		const denials = Array.from({ length: 20 }, () => ({ tool_name: long, tool_input: {} }));
		reader.push(Buffer.from(`${JSON.stringify({ type: "result", subtype: "success", permission_denials: denials })}\n`));
		expect(Math.max(...reader.end().denied.map((one) => one.length))).toBeLessThan(2000);
	});

	test("what is kept of a long text does not keep the rest of it", () => {
		setFlagsFromString("--expose-gc");
		const collect = runInNewContext("gc") as () => void;
		const reader = createReader("claude");
		const long = "n".repeat(2_000_000);
		collect();
		const before = process.memoryUsage().heapUsed;
		for (let n = 0; n < 50; n++) {
			const part = { type: "tool_use", id: String(n), name: "Bash", input: { command: n + long } };
			reader.push(Buffer.from(`${JSON.stringify({ type: "assistant", message: { id: "m", content: [part] } })}\n`));
		}
		collect();
		expect(process.memoryUsage().heapUsed - before).toBeLessThan(30e6);
		expect(reader.reading.tools.size).toBe(50);
	});

	test("a gigabyte goes through a reader that holds little of it", () => {
		const made = ALL.find(({ name }) => name === "claude-ok") as Capture;
		const reader = createReader("claude");
		const piece = Buffer.from(`${"garbage ".repeat(8000)}\n`.repeat(64));
		reader.push(made.stdout);
		const before = process.memoryUsage();
		const size = (memory: NodeJS.MemoryUsage) => memory.heapUsed + memory.external + memory.arrayBuffers;
		let most = 0;
		for (let bytes = 0; bytes < 1e9; bytes += piece.length) {
			reader.push(piece);
			most = Math.max(most, size(process.memoryUsage()) - size(before));
		}
		reader.push(made.stdout);
		expect(reader.end().ended?.how).toBe("well");
		expect(most).toBeLessThan(500e6);
	}, 60_000);
});
