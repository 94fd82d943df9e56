// A log that is read by ranges shows the same as one that is read from its beginning, both for text and for agents' output.

import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRenderer } from "../../src/core/agents/stream/render.ts";
import { wholeLetters } from "../../src/core/text/log-piece.ts";
import { lineCount, linesIn, linesOf } from "../state/log-pieces.ts";
import { LogReader, type ReadLog } from "./log-reader.ts";

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

const linesOfLog = ({ state: { log } }: LogReader) => linesIn(log, 0, lineCount(log));
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

	test("longer than a piece: from its end back to its start, from its start on, and with lines that are longer than a piece", async () => {
		const said = (text: string) => `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text }] } })}\n`;
		const all = Array.from({ length: 3000 }, (_, n) => said(`number ${n} ⇒ ${"é".repeat(n % 90)}`));
		all[1500] = said(`long ${"z".repeat(300_000)} end of long`);
		const log = file("claude");
		log.write(all.join(""));
		log.end();
		const expected = rendered(all.join(""), "claude");
		const back = shown(log.read);
		await back.toEnd();
		let seen = linesOfLog(back);
		expect(seen).toEqual(expected.slice(-seen.length));
		for (let steps = 0; !back.state.log.atStart && steps < 100; steps++) {
			await back.before();
			seen = linesOfLog(back);
			// Far from the end, pieces at the end are dropped.
			const at = expected.indexOf(seen[0] as string);
			expect(seen).toEqual(expected.slice(at, at + seen.length));
		}
		expect(seen[0]).toBe(expected[0]);
		const on = shown(log.read);
		await on.toStart();
		for (let steps = 0; !on.state.log.atEnd && steps < 100; steps++) await on.behind("now");
		expect(linesOfLog(on).at(-1)).toBe(expected.at(-1));
		// Dropped, and read again.
		for (let steps = 0; !back.state.log.atEnd && steps < 100; steps++) await back.behind("now");
		seen = linesOfLog(back);
		expect(seen).toEqual(expected.slice(-seen.length));
	});

	test("is searched by its rendered text, not by its JSON", async () => {
		const filler = `${JSON.stringify({ type: "system", subtype: "init", note: "hidden words" })}\n`.repeat(4000);
		const said = `${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: 'a "quoted" word' }] } })}\n`;
		const log = file("claude");
		log.write(said + filler + said.replace("word", "needle") + filler);
		log.end();
		const reader = shown(log.read);
		await reader.toEnd();
		const line = await reader.find('"quoted" needle', 0, () => {});
		expect(linesOfLog(reader)[line]).toBe('a "quoted" needle');
		expect(await reader.find("hidden words", 0, () => {})).toBe(-1);
	});

	test("a line that never ends is named, not shown", async () => {
		const log = file("claude");
		log.write(`{"type":"x","text":"${"y".repeat(2_000_000)}`);
		const reader = shown(log.read);
		await reader.toEnd();
		expect(linesOfLog(reader)).toEqual(Array(3).fill("· a line that is too long to be shown here"));
		log.write(`"}\n${JSON.stringify({ type: "assistant", message: { content: [{ type: "text", text: "after" }] } })}\n`);
		await reader.behind("now");
		expect(linesOfLog(reader).at(-1)).toBe("after");
	});
});

test("text: characters that a range cuts in two do not shift positions", async () => {
	const text = Array.from({ length: 9000 }, (_, n) => `line ${n} ${"€".repeat(n % 40)}\n`).join("");
	const log = file("command");
	log.write(text);
	log.end();
	const reader = new LogReader(log.read, () => {});
	await reader.toEnd();
	while (!reader.state.log.atStart) await reader.before();
	expect(linesOfLog(reader)).toEqual(linesOf(text));
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
