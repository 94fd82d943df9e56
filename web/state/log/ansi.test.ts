// Terminal sequences become colours or nothing: by example, and for any text.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AnsiStyle, MOST_SPANS, PLAIN, readAnsi } from "./ansi.ts";
import { legible, looksOf } from "./colours.ts";

const E = "\u001b";
const shown = (line: string, start?: AnsiStyle) =>
	(readAnsi(line, start).spans ?? []).map(({ text, style }) => {
		const set = Object.entries(style).filter(([, value]) => value !== null && value !== false);
		return [text, ...set.map(([key, value]) => (value === true ? key : `${key} ${value}`))].join("|");
	});

describe("colours", () => {
	test.each([
		[`a${E}[31mred${E}[0m b`, ["a", "red|fg 1", " b"]],
		[`${E}[1;4;92mx`, ["x|fg 10|bold|underline"]],
		[`${E}[38;5;208mo${E}[48;5;17mn`, ["o|fg 208", "n|fg 208|bg 17"]],
		[`${E}[38;2;255;128;0mt`, ["t|fg #ff8000"]],
		[`${E}[38:2::255:128:0mt${E}[38:5:9mu`, ["t|fg #ff8000", "u|fg 9"]],
		[`${E}[4:3mcurly${E}[4:0mno`, ["curly|underline", "no"]],
		[`${E}[7minv${E}[27m not`, ["inv|inverse", " not"]],
		[`${E}[2mdim${E}[22;3mslanted${E}[m.`, ["dim|dim", "slanted|italic", "."]],
		[`${E}[31;99999mx`, ["x|fg 1"]],
		[`${E}[38;5;999mx${E}[38;2;1;2;300my`, []],
	])("%j", (line, expected) => expect(shown(line)).toEqual(expected));

	test("go on in the next line", () => {
		const { end } = readAnsi(`${E}[35mbegin`);
		expect(shown("goes on", end)).toEqual(["goes on|fg 5"]);
		expect(readAnsi(`${E}[0m`, end).end).toBe(PLAIN);
	});

	test("can be read on white and on the dark panel, in every colour of the palette", () => {
		for (let index = 16; index < 256; index++) {
			const looks = looksOf({ ...PLAIN, fg: index });
			expect(looks.style?.color).toMatch(/^light-dark\(rgb\(\d+ \d+ \d+\), rgb\(\d+ \d+ \d+\)\)$/);
		}
		expect(legible([255, 255, 255], "light").every((value) => value < 130)).toBe(true);
		expect(legible([0, 0, 0], "dark").every((value) => value > 110)).toBe(true);
		expect(looksOf({ ...PLAIN, fg: 3, bg: 231, inverse: true })).toEqual({
			class: "a-inverse b3",
			style: { color: "rgb(255 255 255)" },
		});
	});
});

describe("everything else", () => {
	test.each([
		["cursor and screen", `a${E}[2J${E}[10;20Hb${E}[?25lc${E}7d${E}(Be`, "abcde"],
		["titles and links", `${E}]0;title\u0007a${E}]8;;https://x.test${E}\\link${E}]8;;${E}\\b`, "alinkb"],
		["a string that does not end hides nothing", `a${E}]0;still here`, "a0;still here"],
		["a cut sequence", `a${E}[38;5`, "a"],
		["an escape at the end", `a${E}`, "a"],
		["control characters", "a\u0000\u0007\u009bb\u007fc\td", "abc\td"],
		["marks of direction", "user\u202egnp.exe\u2066\u200f", "usergnp.exe"],
		["zero width stays", "a\u200bb", "a\u200bb"],
	])("%s", (_, line, expected) => expect(readAnsi(line).text).toBe(expected));

	test.each([
		["10%\r50%\r100%", "100%"],
		["long text\rshort", "shorttext"],
		[`long text\r${E}[Kshort`, "short"],
		[`long text${E}[2K\rshort`, "short    "],
		["windows\r", "windows"],
		["abc\b\bX", "aXc"],
		["\b\b\babc", "abc"],
	])("a terminal's line: %j is %j", (line, expected) => expect(readAnsi(line).text).toBe(expected));
});

describe("any text", () => {
	const piece = fc.oneof(
		fc.string({ unit: "binary", maxLength: 6 }),
		fc.constantFrom("\r", "\b", "\t", `${E}[`, `${E}]`, "m", "K", ";", ":", "38", "5", "2", "\u0007", `${E}\\`, "\u202e", "x", "é", "😀"),
		fc.array(fc.nat(300), { maxLength: 8 }).map((codes) => `${E}[${codes.join(";")}m`),
	);
	const line = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join("").replaceAll("\n", ""));

	test("no control character is left, spans add up to the text, a second reading changes nothing", () => {
		fc.assert(
			fc.property(line, (text) => {
				const read = readAnsi(text);
				expect(read.text).not.toMatch(/[^\P{Cc}\t]|[\u202a-\u202e\u2066-\u2069]/u);
				if (read.spans) expect(read.spans.map((span) => span.text).join("")).toBe(read.text);
				expect(read.spans?.length ?? 0).toBeLessThanOrEqual(MOST_SPANS);
				expect(readAnsi(read.text).text).toBe(read.text);
				for (const { style } of read.spans ?? []) looksOf(style);
			}),
			{ numRuns: 2000 },
		);
	});

	test("a bomb of sequences: 10 MB in linear time, few spans", () => {
		const bomb = Array.from({ length: 1_000_000 }, (_, n) => `${E}[3${n % 8}mx${n % 10}`).join("");
		const { spans, text } = readAnsi(bomb);
		expect([spans?.length, text.length]).toEqual([MOST_SPANS, 2_000_000]);
		expect(readAnsi(`${E}[${"1;".repeat(3_000_000)}mx`).spans).toBeNull();
		expect(readAnsi(`${E}]`.repeat(100_000)).text).toBe("");
	});
});
