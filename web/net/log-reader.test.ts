// A log that is read by ranges shows the same as one that is read from its beginning, both for text and for agents' output.

import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRenderer } from "../../src/core/agents/stream/render.ts";
import { wholeLetters } from "../../src/core/text/log-piece.ts";
import { BLOCK_BYTES, countLines, LONGEST, rowsOf } from "../state/log/rows.ts";
import { LogReader, type ReadLog } from "./log-reader.ts";
import { LogSearch } from "./log-search.ts";

const FIXTURES = new URL("../../test/fixtures/agents/", import.meta.url);
const fixture = (name: string) => readFileSync(new URL(`${name}/stdout`, FIXTURES), "utf8");
const AGENTS = ["claude", "codex", "gemini", "opencode"] as const;

/** A growing file that returns pieces like the daemon. */
function file(output: string) {
	const encoder = new TextEncoder();
	let bytes = new Uint8Array();
	let ended = false;
	const read: ReadLog = async ({ offset, limit }) => {
		const from = offset < 0 ? Math.max(0, bytes.length + offset) : Math.min(offset, bytes.length);
		const some = bytes.subarray(from, Math.min(bytes.length, from + Math.max(4, limit)));
		const whole = ended && from + some.length >= bytes.length ? some.length : wholeLetters(some);
		const text = new TextDecoder().decode(some.subarray(0, whole));
		return { run: "1.1", offset: from, next_offset: from + whole, text, eof: from + whole >= bytes.length, ended, output };
	};
	return {
		read,
		write(text: string) {
			const more = encoder.encode(text);
			const all = new Uint8Array(bytes.length + more.length);
			all.set(bytes);
			all.set(more, bytes.length);
			bytes = all;
		},
		end() {
			ended = true;
		},
	};
}

const linesOfLog = ({ state: { blocks } }: LogReader) => blocks.flatMap(({ rows }) => rows.map(({ text }) => text));
const linesOf = (text: string) => rowsOf({ text, parts: [], isWithin: false, goesOn: "no" }, "raw").map((row) => row.text);
function rendered(text: string, format: (typeof AGENTS)[number]): string[] {
	const renderer = createRenderer(format);
	return linesOf(renderer.push(text) + renderer.end());
}
const shown = (read: ReadLog) => new LogReader(read, () => {}, { stream: "stdout", as: "shown" });

describe("an agent's log", () => {
	const cases = AGENTS.flatMap((format) =>
		readdirSync(FIXTURES)
			.filter((name) => name.startsWith(format))
			.flatMap((name) => {
				try {
					return [{ name, format, text: fixture(name) }];
				} catch {
					return [];
				}
			}),
	);

	test("there are recorded ones of each", () => {
		expect(AGENTS.filter((format) => !cases.some((one) => one.format === format))).toEqual([]);
	});

	test.each(cases)("$name is shown as sluice logs does", async ({ text, format }) => {
		const log = file(format);
		log.write(text);
		log.end();
		const reader = shown(log.read);
		await reader.toEnd();
		expect(linesOfLog(reader)).toEqual(rendered(text, format));
		expect(reader.state).toMatchObject({ output: format, reading: format });
		const raw = new LogReader(log.read, () => {}, { stream: "stdout", as: "raw" });
		await raw.toEnd();
		expect(linesOfLog(raw)).toEqual(linesOf(text));
	});

	test("that grows by any pieces is shown like the whole text", async () => {
		const some = cases.filter(({ text }) => text.length < 30_000);
		await fc.assert(
			fc.asyncProperty(fc.constantFrom(...some), fc.array(fc.nat(30_000), { maxLength: 12 }), async ({ text, format }, cuts) => {
				const log = file(format);
				const reader = shown(log.read);
				const places = [0, ...cuts.map((n) => n % (text.length + 1)).sort((a, b) => a - b), text.length];
				for (let n = 1; n < places.length; n++) {
					log.write(text.slice(places[n - 1], places[n]));
					if (n === 1) await reader.toEnd();
					else await reader.behind("now");
				}
				log.end();
				await reader.behind("now");
				expect(linesOfLog(reader)).toEqual(rendered(text, format));
			}),
		);
	});

	test("longer than a block: from its end back to its start, from its start on, and with lines that are longer than a block", async () => {
		const said = (text: string) => `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } })}\n`;
		const all = Array.from({ length: 9000 }, (_, n) => said(`number ${n} ⇒ ${"é".repeat(n % 90)}`));
		all[4500] = said(`long ${"z".repeat(600_000)} end of long`);
		const log = file("claude");
		log.write(all.join(""));
		log.end();
		const expected = rendered(all.join(""), "claude");
		const back = shown(log.read);
		await back.toEnd();
		let seen = linesOfLog(back);
		expect(seen).toEqual(expected.slice(-seen.length));
		for (let steps = 0; !back.state.atStart && steps < 100; steps++) {
			await back.before();
			seen = linesOfLog(back);
			// Far from the end, blocks at the end are dropped.
			const at = expected.indexOf(seen[0] as string);
			expect(seen).toEqual(expected.slice(at, at + seen.length));
		}
		expect(seen[0]).toBe(expected[0]);
		const on = shown(log.read);
		await on.toStart();
		for (let steps = 0; !on.state.atEnd && steps < 100; steps++) await on.behind("now");
		expect(linesOfLog(on).at(-1)).toBe(expected.at(-1));
		// Dropped, and read again.
		for (let steps = 0; !back.state.atEnd && steps < 100; steps++) await back.behind("now");
		seen = linesOfLog(back);
		expect(seen).toEqual(expected.slice(-seen.length));
	});

	test("is searched by its rendered text, not by its JSON; what it says of times is kept", async () => {
		const filler = `${JSON.stringify({ type: "system", subtype: "init", note: "hidden words" })}\n`.repeat(8000);
		const said = `${JSON.stringify({ type: "assistant", timestamp: "2026-01-02T03:04:05Z", message: { content: [{ type: "text", text: 'a "quoted" word' }] } })}\n`;
		const log = file("claude");
		log.write(said + filler + said.replace("word", "needle") + filler);
		log.end();
		const reader = shown(log.read);
		await reader.toEnd();
		const found = await new LogSearch(reader, '"QUOTED" needle', () => {}).next(1, { block: 0, row: 0 }, "here");
		const row = (await reader.block(found?.block ?? 0)).rows[found?.row ?? 0];
		expect([row?.text, row?.at]).toEqual(['a "quoted" needle', Date.UTC(2026, 0, 2, 3, 4, 5)]);
		expect(await new LogSearch(reader, "hidden words", () => {}).next(1, { block: 0, row: 0 }, "here")).toBeNull();
	});

	test("a line that never ends is not shown, one that is too long is named", async () => {
		const log = file("claude");
		log.write(`{"type":"x","text":"${"y".repeat(2_000_000)}`);
		const reader = shown(log.read);
		await reader.toStart();
		expect(linesOfLog(reader)).toEqual(["· a line that is too long to be shown here"]);
		log.write(`"}\n${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: "after" }] } })}\n`);
		await reader.toEnd();
		expect(linesOfLog(reader).at(-1)).toBe("after");
	});
});

const text = (read: ReadLog) => new LogReader(read, () => {});

test("text: characters that a block's end cuts in two shift nothing; lines have the same numbers from wherever they are read", async () => {
	const lines = Array.from({ length: 30_000 }, (_, n) => `line ${n + 1} ${"€".repeat(n % 40)}`);
	const log = file("command");
	log.write(`${lines.join("\n")}\n`);
	log.end();
	const reader = text(log.read);
	await reader.toEnd();
	const back: string[] = linesOfLog(reader);
	for (let first = reader.state.blocks[0]?.index ?? 0; !reader.state.atStart; first--) {
		await reader.before();
		back.unshift(...(await reader.block(first - 1)).rows.map((row) => row.text));
	}
	expect(back).toEqual(lines);
	const fresh = text(log.read);
	for (const line of [1, 2, 7777, 29_999, 30_000, 99_999]) {
		const place = await fresh.find(line);
		const row = place && (await fresh.block(place.block)).rows[place.row];
		expect(row?.text).toBe(lines[Math.min(line, 30_000) - 1]);
	}
	expect(await fresh.textOf(9000, 9002)).toBe(lines.slice(8999, 9002).join("\n"));
});

test("text that grows by any pieces has the rows of the whole text, with any ends of lines and both streams", async () => {
	const word = fc.oneof(
		fc.constantFrom("a\n", "\n", "é€😀 ", "10%\r20%\r", "\u001b[31mred\n", "x".repeat(3000), "y".repeat(20_000), "z".repeat(BLOCK_BYTES)),
		fc.string({ unit: "grapheme", maxLength: 20 }),
	);
	await fc.assert(
		fc.asyncProperty(fc.array(word, { maxLength: 30 }), async (words) => {
			const log = file("command");
			const reader = text(log.read);
			for (const [n, one] of words.entries()) {
				log.write(one);
				if (n === 0) await reader.toStart();
				else for (let step = 0; step < 5; step++) await reader.behind("now");
			}
			log.end();
			for (let step = 0; step < 5; step++) await reader.behind("now");
			const whole = text(log.read);
			await whole.toEnd();
			const [grown, once] = [linesOfLog(reader), linesOfLog(whole)];
			// Compared as short words: a difference would be printed.
			const brief = (rows: string[]) => rows.map((row) => (row.length > 40 ? `${row.slice(0, 20)}… ${row.length}` : row));
			expect(brief(grown.slice(-once.length))).toEqual(brief(once));
		}),
		{ numRuns: 60, examples: [[["a", "z".repeat(BLOCK_BYTES), "z".repeat(BLOCK_BYTES)]]] },
	);
});

test("hits: all of them, both ways around the ends, also those that are written later", async () => {
	const log = file("command");
	const filler = "nothing to see on this line\n".repeat(20_000);
	log.write(`Needle 1\n${filler}needle 2\nneedle 3\n${filler}`);
	const reader = text(log.read);
	await reader.toEnd();
	const search = new LogSearch(reader, "needle", () => search.wake());
	const at = { block: reader.state.blocks.at(-1)?.index ?? 0, row: 3 };
	const words = async (place: { block: number; row: number } | null) => place && (await reader.block(place.block)).rows[place.row]?.text;
	const first = await search.next(1, at, "here");
	expect(await words(first)).toBe("Needle 1");
	const second = await search.next(1, first ?? at, "beyond");
	expect([await words(second), search.rank(second ?? at), search.total]).toEqual(["needle 2", 2, 3]);
	expect(await words(await search.next(-1, first ?? at, "beyond"))).toBe("needle 3");
	log.write("needle 4\n");
	await reader.behind("now");
	search.refresh(reader.state.blocks);
	expect(await words(await search.next(-1, first ?? at, "beyond"))).toBe("needle 4");
	expect(search.total).toBe(4);
	expect(await new LogSearch(reader, "not there", () => {}).next(-1, at, "here")).toBeNull();
});

describe("rows", () => {
	const raw = (lines: string, parts: { stream: "stdout" | "stderr"; length: number }[] = []) =>
		rowsOf({ text: lines, parts, isWithin: false, goesOn: "no" }, "raw");

	test("of both streams: a line of stderr is marked", () => {
		const parts = [
			{ stream: "stdout", length: 4 },
			{ stream: "stderr", length: 4 },
			{ stream: "stdout", length: 8 },
		] as const;
		expect(raw("out\nerr\nout\nend\n", [...parts]).map(({ stream }) => stream)).toEqual(["stdout", "stderr", "stdout", "stdout"]);
	});

	test("of a long line go on without a number, and the rest is named", () => {
		const rows = raw(`${"y".repeat(9000)}\nnext\n`);
		expect(rows.map((row) => [row.text.length, row.isMore])).toEqual([
			[LONGEST, false],
			[LONGEST, true],
			[1000, true],
			[4, false],
		]);
		const huge = raw("y".repeat(10_000_000));
		expect([huge.length, huge.at(-1)?.text]).toEqual([17, "· this line goes on for 9.5 MB: download the log to see all of it"]);
		expect(countLines(huge)).toBe(1);
	});

	test("of a progress bar: its last state, however long it went on", () => {
		const bar = Array.from({ length: 5000 }, (_, n) => `\r${n} of 5000`).join("");
		expect(raw(`${bar}\ndone\n`).map((row) => row.text)).toEqual(["4999 of 5000", "done"]);
	});

	test("of sections begin, end and head them; lines of a patch do not", () => {
		const rows = raw(
			"::group::Install\nx\n::endgroup::\nsection_start:1:a\r\u001b[0KBuild\nsection_end:2:a\r\u001b[0K\n--- :npm: test\n--- a/x\n+++ b/x\n",
		);
		expect(rows.map((row) => [row.text, row.fold])).toEqual([
			["Install", "begin"],
			["x", null],
			["", "end"],
			["Build", "begin"],
			["", "end"],
			["--- :npm: test", "head"],
			["--- a/x", null],
			["+++ b/x", null],
		]);
	});
});

test("the next run's log begins anew, whatever the position", async () => {
	const [first, second] = [file("command"), file("command")];
	first.write("a long log of the first run\n".repeat(50));
	let now = { read: first.read, run: "1.1" };
	const reader = new LogReader(
		async (range, signal) => ({ ...(await now.read(range, signal)), run: now.run }),
		() => {},
	);
	await reader.toEnd();
	second.write("second\n");
	now = { read: second.read, run: "1.2" };
	await reader.behind("now");
	expect(linesOfLog(reader)).toEqual(["second"]);
});
