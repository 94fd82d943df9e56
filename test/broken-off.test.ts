// What is charged for runs that were broken off: real recordings, cut at every line, with the program's own record of the session beside them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { ADAPTERS } from "../src/core/agents/index.ts";
import { NOTHING, type Used } from "../src/core/agents/stream/happening.ts";
import { createReader } from "../src/core/agents/stream/reading.ts";
import { type Settled, settleUsage } from "../src/core/agents/stream/usage.ts";

const FOLDER = fileURLToPath(new URL("fixtures/broken-off", import.meta.url));
/** `served`: tokens of each answer, in order; `first`: how many of them the run got that was broken off; `lost`: how many of those the program told nowhere. */
type About = { about: string; first: number; lost?: number; served: number[] };

const sum = (parts: readonly number[]) => parts.reduce((total, part) => total + part, 0);

function recording(name: string) {
	const read = (file: string) => readFileSync(join(FOLDER, name, file), "utf8");
	const about = JSON.parse(read("about.json")) as About;
	const records = readdirSync(join(FOLDER, name))
		.filter((file) => file.startsWith("record"))
		.map(read);
	const format = name.replace(/\d+-.*/, "") as "claude" | "codex" | "gemini";
	return { ...about, format, stdout: read("stdout"), resumed: read("resumed"), records };
}
type Recording = ReturnType<typeof recording>;

/** As a supervisor settles it: from what was printed and, where no sum was told, from the record. */
function settled({ format }: Pick<Recording, "format">, stdout: string, records: string[], before: Used | null, since = 0): Settled {
	const reader = createReader(format);
	reader.push(Buffer.from(stdout));
	const read = reader.end();
	const { record } = ADAPTERS[format];
	const { reading } = record?.isWanted(read) ? record.complete(read, records, since, before) : { reading: read };
	return settleUsage(reading, before);
}

const cuts = (text: string): string[] => {
	const lines = text.split("\n");
	return lines.map((_, count) => lines.slice(0, count).join("\n"));
};

describe.each(readdirSync(FOLDER).sort())("%s", (name) => {
	const made = recording(name);
	const handed = sum(made.served.slice(0, made.first));
	const told = handed - sum(made.served.slice(made.first - (made.lost ?? 0), made.first));

	test("what was used before the end is charged", () => {
		expect(settled(made, made.stdout, made.records, NOTHING).delta.tokens).toBe(told);
	});

	test("the broken-off run and the one that goes on come to what was handed out", () => {
		const first = settled(made, made.stdout, made.records, NOTHING);
		const second = settled(made, made.resumed, [], first.total);
		expect(first.delta.tokens + second.delta.tokens).toBe(sum(made.served) - (handed - told));
	});

	test("cut anywhere, it is never more than was handed out, and never falls as more is known", () => {
		for (const records of [made.records, []]) {
			let before = 0;
			for (const stdout of [...cuts(made.stdout), made.stdout]) {
				const { tokens } = settled(made, stdout, records, NOTHING).delta;
				expect(tokens).toBeLessThanOrEqual(handed);
				expect(tokens).toBeGreaterThanOrEqual(before);
				before = tokens;
			}
		}
		for (const [index, record] of made.records.entries()) {
			let before = 0;
			for (const some of [...cuts(record), record]) {
				const records = made.records.with(index, some);
				const { tokens } = settled(made, made.stdout, records, NOTHING).delta;
				expect(tokens).toBeLessThanOrEqual(handed);
				expect(tokens).toBeGreaterThanOrEqual(before);
				before = tokens;
			}
		}
	});

	test("a run that is broken off before its first word is not charged with the one before it", () => {
		const first = settled(made, made.stdout, made.records, NOTHING);
		const later = Date.parse("2027-01-01T00:00:00Z");
		expect(settled(made, "", made.records, first.total, later).delta.tokens).toBe(0);
		// Nor where the mark is lost.
		expect(settled(made, "", made.records, null, later).delta.tokens).toBe(0);
	});
});

test("two subagents that talk at once: each call counts once, with its largest numbers", () => {
	const event = (id: string, input_tokens: number, output_tokens: number) =>
		`${JSON.stringify({ type: "assistant", message: { id, content: [], usage: { input_tokens, output_tokens } } })}\n`;
	const stdout = event("a", 100, 1) + event("b", 200, 1) + event("a", 100, 7) + event("b", 200, 3) + event("a", 100, 2);
	expect(settled({ format: "claude" }, stdout, [], NOTHING).delta).toMatchObject({
		tokens: 310,
		input_tokens: 300,
		output_tokens: 10,
		cost_micro: null,
	});
});

test("what a process used after its last sum is charged beside it", () => {
	const result = { type: "result", subtype: "success", is_error: false, result: "x", session_id: "s", total_cost_usd: 0.5 };
	const told = { ...result, usage: { input_tokens: 100, output_tokens: 9 } };
	const call = { type: "assistant", message: { id: "b", content: [], usage: { input_tokens: 200, output_tokens: 1 } } };
	const stdout = `${JSON.stringify(told)}\n${JSON.stringify(call)}\n`;
	expect(settled({ format: "claude" }, stdout, [], NOTHING).delta).toMatchObject({ tokens: 310, cost_micro: 500_000 });
});

test("several sums of one process are of what came since the one before", () => {
	const result = (inputTokens: number, all: number) =>
		`${JSON.stringify({
			type: "result",
			subtype: "success",
			is_error: false,
			total_cost_usd: 0,
			modelUsage: { m: { inputTokens: all } },
			model_usage_since_last_result: { m: { inputTokens } },
		})}\n`;
	const { delta, total } = settled({ format: "claude" }, result(40, 140) + result(2, 142), [], { ...NOTHING, tokens: 100 });
	expect([delta.tokens, total?.tokens]).toEqual([42, 142]);
});
