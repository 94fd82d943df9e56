// The order of two streams: a burst of writes taken apart, positions in both together, the last lines, a log whose middle is cut out.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pieceOf } from "./log-piece.ts";
import {
	afterCut,
	burst,
	completed,
	MAX_TAIL,
	type OneStream,
	rangesFrom,
	readSegments,
	type Segment,
	type Sizes,
	type StreamRange,
	segmentLine,
	tailStart,
	totalOf,
} from "./output-order.ts";

const stream = fc.constantFrom<OneStream>("stdout", "stderr");
const NONE: Sizes = { stdout: 0, stderr: 0 };

/** What a program wrote, in its order, as two logs. */
class Written {
	readonly bytes = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
	readonly changed: OneStream[] = [];
	write(to: OneStream, text: string): this {
		this.bytes[to] = Buffer.concat([this.bytes[to], Buffer.from(text)]);
		this.changed.push(to);
		return this;
	}
	get sizes(): Sizes {
		return { stdout: this.bytes.stdout.length, stderr: this.bytes.stderr.length };
	}
	read = ({ stream, from, to }: StreamRange): Uint8Array => this.bytes[stream].subarray(from, to);
	lines = (range: StreamRange): number[] => {
		const ends = [...this.read(range)].flatMap((byte, at) => (byte === 10 ? [range.from + at + 1] : []));
		return ends.at(-1) === range.to ? ends : [...ends, range.to];
	};
	segments(): Segment[] {
		return burst(NONE, this.sizes, this.changed, this.lines);
	}
	text(segments: readonly Segment[]): string {
		return rangesFrom(segments, 0, 1e9)
			.map((range) => Buffer.from(this.read(range)).toString())
			.join("");
	}
}

describe("a burst of writes", () => {
	test.each([
		["one line each", ["o a", "e b", "o c"]],
		["two lines and one", ["o a1", "o b1", "e e1", "o a2", "o b2", "e e2", "o a3", "o b3", "e e3", "o end"]],
		["stderr first", ["e b", "o a", "e c"]],
		["one stream", ["o a", "o b"]],
	])("%s: as it was written", (_, writes) => {
		const run = new Written();
		const texts = writes.map((one) => `${one.slice(2)}\n`);
		for (const [index, one] of writes.entries()) run.write(one.startsWith("o") ? "stdout" : "stderr", texts[index] as string);
		expect(run.text(run.segments())).toBe(texts.join(""));
	});

	test("of a stream without a notification comes last", () => {
		expect(burst(NONE, { stdout: 2, stderr: 3 }, ["stderr"], () => null)).toEqual([
			{ stream: "stderr", end: 3 },
			{ stream: "stdout", end: 2 },
		]);
	});

	test("for any notifications: every byte of each stream is there once and in order", () => {
		fc.assert(
			fc.property(
				fc.array(fc.tuple(stream, fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 9 }))),
				fc.array(stream),
				(writes, notices) => {
					const run = new Written();
					for (const [to, text] of writes) run.write(to, text);
					const ends = { ...NONE };
					for (const { stream, end } of burst(NONE, run.sizes, notices, run.lines)) {
						expect(end).toBeGreaterThan(ends[stream]);
						ends[stream] = end;
					}
					expect(ends).toEqual(run.sizes);
				},
			),
		);
	});
});

describe("the recorded order", () => {
	test("is read back, up to what a crash cut short", () => {
		const noted: Segment[] = [
			{ stream: "stdout", end: 12 },
			{ stream: "stderr", end: 3 },
			{ stream: "stdout", end: 40 },
		];
		const text = noted.map(segmentLine).join("");
		expect(readSegments(text)).toEqual(noted);
		expect(readSegments(text.slice(0, -1))).toEqual(noted.slice(0, 2));
		expect(readSegments(`${text}o 7\n`)).toEqual(noted);
		expect(readSegments("what is this\n")).toEqual([]);
	});

	test("is completed by what came after it, the other stream first", () => {
		expect(completed([{ stream: "stdout", end: 5 }], { stdout: 9, stderr: 4 })).toEqual([
			{ stream: "stdout", end: 5 },
			{ stream: "stderr", end: 4 },
			{ stream: "stdout", end: 9 },
		]);
		expect(completed([], { stdout: 2, stderr: 2 }).map(({ stream }) => stream)).toEqual(["stdout", "stderr"]);
		expect(completed([{ stream: "stdout", end: 50 }], { stdout: 9, stderr: 0 })).toEqual([{ stream: "stdout", end: 9 }]);
	});

	test("positions stay valid while the run continues to write", () => {
		const noted: Segment[] = [{ stream: "stdout", end: 5 }];
		const before = rangesFrom(completed(noted, { stdout: 5, stderr: 4 }), 0, 9);
		const later = rangesFrom(completed([...noted, { stream: "stderr", end: 8 }], { stdout: 30, stderr: 8 }), 0, 9);
		expect(later).toEqual(before);
	});

	test("follows a log whose middle was cut out", () => {
		const before: Segment[] = [
			{ stream: "stdout", end: 10 },
			{ stream: "stderr", end: 5 },
			{ stream: "stdout", end: 60 },
			{ stream: "stderr", end: 9 },
			{ stream: "stdout", end: 100 },
		];
		// The first 20 and the last 15 bytes stay; 8 bytes describe the cut.
		expect(afterCut(before, "stdout", { head: 20, tail: 15, before: 100, after: 43 })).toEqual([
			{ stream: "stdout", end: 10 },
			{ stream: "stderr", end: 5 },
			{ stream: "stdout", end: 20 },
			{ stream: "stderr", end: 9 },
			{ stream: "stdout", end: 43 },
		]);
	});
});

const runs = fc
	.array(fc.tuple(stream, fc.string({ unit: fc.constantFrom("a", "é", "€", "\n"), maxLength: 12 })), { maxLength: 20 })
	.map((writes) => {
		const run = new Written();
		for (const [to, text] of writes) run.write(to, text);
		return run;
	});

test("pieces of any size join to the whole, with the stream of each part", () => {
	fc.assert(
		fc.property(runs, fc.integer({ min: 4, max: 40 }), (run, limit) => {
			const segments = run.segments();
			const found = { stdout: "", stderr: "" };
			let whole = "";
			for (let offset = 0; offset < totalOf(segments); ) {
				const piece = pieceOf(segments, { offset, limit }, { read: run.read, ended: true });
				expect(piece?.next_offset).toBeGreaterThan(offset);
				let at = 0;
				for (const { stream, length } of piece?.parts ?? []) {
					found[stream] += piece?.text.slice(at, at + length);
					at += length;
				}
				expect(at).toBe(piece?.text.length);
				whole += piece?.text;
				offset = piece?.next_offset as number;
			}
			expect(whole).toBe(run.text(segments));
			expect(found).toEqual({ stdout: run.bytes.stdout.toString(), stderr: run.bytes.stderr.toString() });
		}),
	);
});

test("the last lines are those that the whole text ends with", () => {
	fc.assert(
		fc.property(runs, fc.integer({ min: 0, max: 8 }), (run, count) => {
			const segments = run.segments();
			const text = run.text(segments);
			const lines = text.split(/(?<=\n)/);
			const start = tailStart(segments, count, run.read);
			const shown = Buffer.concat(rangesFrom(segments, start, 1e9).map((range) => run.read(range))).toString();
			expect(shown).toBe(count === 0 ? "" : lines.slice(-count).join(""));
		}),
	);
});

test("the last line of a long log is found by reading its end alone", () => {
	let bytes = 0;
	const read = ({ from, to }: StreamRange) => {
		bytes += to - from;
		return new Uint8Array(to - from).fill(97).map((byte, at) => ((from + at) % 100 === 99 ? 10 : byte));
	};
	const segments: Segment[] = [{ stream: "stdout", end: 500_000_000 }];
	expect(tailStart(segments, 3, read)).toBe(499_999_700);
	expect(bytes).toBeLessThan(100_000);
});

test("a log without line breaks is read back so far and no further", () => {
	let bytes = 0;
	const read = ({ from, to }: { from: number; to: number }) => {
		bytes += to - from;
		return new Uint8Array(to - from).fill(120);
	};
	expect(tailStart([{ stream: "stdout", end: 200_000_000 }], 1, read)).toBe(200_000_000 - MAX_TAIL);
	expect(bytes).toBe(MAX_TAIL);
});
