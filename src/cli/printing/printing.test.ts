// Times, tables and colours by example.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NOW } from "../../../test/make/daemons/command-line.ts";
import { durationOf, durationWords, relative, shortDuration, timeOf, withLocalTimes } from "../times.ts";
import { createPrinter } from "./print.ts";
import { printable, splitKeys, tame } from "./sequences.ts";
import { cut, table, widthOf, wrap } from "./table.ts";

describe("times", () => {
	test.each([
		[0, "0ms"],
		[850, "850ms"],
		[1000, "1s"],
		[9_990, "9.9s"],
		[12_400, "12s"],
		[200_000, "3m 20s"],
		[180_000, "3m"],
		[7_500_000, "2h 5m"],
		[90_000_000, "1d 1h"],
	])("%i ms is %s", (ms, words) => {
		expect(durationWords(ms)).toBe(words);
	});

	test.each([
		[0, "now"],
		[12_000, "in 12s"],
		[11_001, "in 12s"],
		[-12_999, "12s ago"],
		[180_000, "in 3m"],
		[-7_200_000, "2h ago"],
		[3 * 86_400_000, "in 3d"],
		[2_500, "in 3s"],
		[7_199_700, "in 2h"],
		[6_000_000, "in 1h 40m"],
		[59_500, "in 1m"],
		[95_000, "in 1m 40s"],
		[-7_199_000, "1h ago"],
	])("%i ms from now is %s", (ms, words) => {
		expect(relative(NOW + ms, NOW)).toBe(words);
	});

	test("a negative short duration is 0s", () => {
		expect(shortDuration(-5)).toBe("0s");
	});

	test("durations as they are written", () => {
		expect([durationOf("30s", "in"), durationOf("1h30m", "in"), durationOf("1.5m", "in"), durationOf("2d", "in")]).toEqual([
			30_000, 5_400_000, 90_000, 172_800_000,
		]);
		for (const wrong of ["", "5", "s", "5x", "1h 30m", "-5s"]) expect(() => durationOf(wrong, "in")).toThrow("is not a duration");
	});

	test("moments inside a sentence", () => {
		expect(withLocalTimes("attempt 2 not before 2030-01-31T12:30:00.000Z.", NOW)).toMatch(/^attempt 2 not before \d\d:30:00\.$/);
		expect(withLocalTimes("not before 2030-03-01T12:00:00Z", NOW)).toMatch(/^not before 2030-03-01 \d\d:00:00$/);
	});

	test("times as they are written", () => {
		const local = (text: string) => new Date(text).toISOString();
		expect(timeOf("2030-02-01T08:00:00Z", "at", NOW)).toBe("2030-02-01T08:00:00.000Z");
		expect(timeOf("2030-02-01T08:00:00+02:00", "at", NOW)).toBe("2030-02-01T06:00:00.000Z");
		expect(timeOf("2030-02-01 08:00", "at", NOW)).toBe(local("2030-02-01T08:00"));
		expect(timeOf("2030-02-01", "at", NOW)).toBe(local("2030-02-01T00:00"));
		expect(timeOf("2h", "at", NOW)).toBe("2030-01-31T14:00:00.000Z");
		const next = Date.parse(timeOf("18:30", "at", NOW));
		expect([next > NOW, next - NOW <= 86_400_000, new Date(next).getHours(), new Date(next).getMinutes()]).toEqual([true, true, 18, 30]);
		for (const wrong of ["", "25:00", "18:61", "tomorrow", "2030-13-01", "2030-02-01T08", "12"])
			expect(() => timeOf(wrong, "at", NOW)).toThrow("is not a time");
	});
});

describe("text", () => {
	test("width as it is seen", () => {
		expect([widthOf("abc"), widthOf("\u001b[31mabc\u001b[0m"), widthOf("日本"), widthOf("é"), widthOf("e\u0301"), widthOf("🚀")]).toEqual([
			3, 3, 4, 1, 1, 2,
		]);
	});

	test("cut, with colours closed", () => {
		expect([cut("abcdef", 4), cut("abc", 3), cut("日本語", 4), cut("abc", 0)]).toEqual(["abc…", "abc", "日…", ""]);
		expect(cut("\u001b[31mabcdef\u001b[0m", 4)).toBe("\u001b[31mabc…\u001b[0m");
	});

	test("no output of a job can affect the terminal", () => {
		expect(printable("a\u001b]0;title\u0007b\u001b[2Jc\u001b[31md\ne\tf\u0000\u202eg\u009b")).toBe("abcd e fg");
		expect(tame("a\r\n\u001b[31mred\u001b[0m\u001b[1A\u001b]8;;http://x\u0007link\u0008", "keep")).toBe("a\r\n\u001b[31mred\u001b[0mlink");
		expect(tame("\u001b[31mred\u001b[0m", "drop")).toBe("red");
	});

	const ESC = "\u001b";
	test.each([
		["an escape with NUL inside", `${ESC}\u0000[2J`, "[2J"],
		["a sequence inside a sequence", `${ESC}${ESC}[A[2J`, "[2J"],
		["the clipboard, with NULs", `${ESC}\u0000]52;c;aGk=${ESC}\u0000\\`, "]52;c;aGk=\\"],
		["the clipboard", `a${ESC}]52;c;aGk=${ESC}\\b`, "ab"],
		["a title without an end", `${ESC}]0;title and the rest`, "0;title and the rest"],
		["a reset", `${ESC}cx`, "x"],
		["another character set", `${ESC}(0x`, "x"],
		["saving the cursor", `${ESC}7x${ESC}8`, "x"],
		["C1 codes", "a\u009b2Jb\u009d0;t\u009c", "a2Jb0;t"],
		["a device string", `${ESC}Pq#0;2;0;0;0${ESC}\\x`, "x"],
		["a line written over", "rm -rf /\rls", "rm -rf /\nls"],
		["writing directions", "a\u202eb\u2066c", "abc"],
		["a colour", `${ESC}[1;31mred${ESC}[0m`, `${ESC}[1;31mred${ESC}[0m`],
		["an escape before a colour", `${ESC}${ESC}[31m[2J`, `${ESC}[31m[2J`],
		["a colour without an end", `${ESC}[31`, "31"],
	])("%s", (_, text, shown) => {
		expect(tame(text, "keep")).toBe(shown);
	});

	test.each([
		["", ""],
		["0", "0"],
		["1;2;3;4;7", "1;2;3;4;7"],
		["5", null],
		["6", null],
		["8", null],
		["08", null],
		["31;8", "31"],
		["8;31", "31"],
		[";8", "0"],
		["9", null],
		["10", null],
		["21", null],
		["22;23;24;25;27;29", "22;23;24;25;27;29"],
		["28", null],
		["30;37;39;40;47;49;90;97;100;107", "30;37;39;40;47;49;90;97;100;107"],
		["1;2;99999", "1;2"],
		["50", null],
		["108", null],
		["38;5;8", "38;5;8"],
		["48;5;255;1", "48;5;255;1"],
		["38;2;8;8;8", "38;2;8;8;8"],
		["48;2;0;255;7;4", "48;2;0;255;7;4"],
		["38;5;256", null],
		["1;38;5", "1"],
		["1;38;2;8;8", "1"],
		["1;38", "1"],
		["38;8;1", null],
		["58;5;1;31", "31"],
		["58;2;1;1;1;31", "31"],
		["38:5:8", "38:5:8"],
		["48:2::1:2:3", "48:2::1:2:3"],
		["38:2:1:2:3", "38:2:1:2:3"],
		["38:5:999", null],
		["4:3", "4:3"],
		["4:9", null],
		["8:1;31", "31"],
		["0:8", null],
	])("of the colour %j, %j is kept", (given, kept) => {
		expect(tame(`a${ESC}[${given}mb`, "keep")).toBe(kept === null ? "ab" : `a${ESC}[${kept}mb`);
	});

	test("of any text only complete colours remain, and a second pass changes nothing", () => {
		const unit = fc.constantFrom(ESC, "[", "]", "2", "J", "m", ";", "\u0000", "\u0007", "\\", "\r", "\n", "c", "(", "\u009b", "P");
		fc.assert(
			fc.property(fc.string({ unit, maxLength: 30 }), (text) => {
				const shown = tame(text, "keep");
				expect(shown.replace(new RegExp(`${ESC}\\[[0-9;:]*m`, "g"), "")).toMatch(/^[\t\n\r -~]*$/);
				expect(shown).not.toMatch(/\r(?!\n)/);
				expect(tame(shown, "keep")).toBe(shown);
				expect(tame(text, "drop")).not.toContain(ESC);
				expect(printable(text)).toMatch(/^[ -~]*$/);
			}),
			{ numRuns: 2000 },
		);
	});

	test("keys", () => {
		expect(splitKeys("j\u001b[Aq\u001b[6~")).toEqual(["j", "\u001b[A", "q", "\u001b[6~"]);
	});

	test("wrap", () => {
		expect(wrap("one two three\nfour", 7)).toEqual(["one two", "three", "four"]);
	});
});

describe("tables", () => {
	const columns = [
		{ title: "ID", align: "right" as const },
		{ title: "WHAT", shrink: 5 },
		{ title: "NOTE", shrink: 4 },
	];
	test("columns are aligned, empty ones are left out", () => {
		expect(
			table(
				columns,
				[
					["1", "short", ""],
					["12", "longer one", ""],
				],
				80,
			),
		).toEqual(["ID  WHAT", " 1  short", "12  longer one"]);
	});
	test("the widest column shrinks first, down to its minimum", () => {
		expect(table(columns, [["1", "abcdefghij", "note this"]], 18)).toEqual(["ID  WHAT    NOTE", " 1  abcde…  note …"]);
	});
	test("if no column can shrink any more, the end of the line is cut", () => {
		for (const line of table(columns, [["1", "abcdefghij", "note this"]], 8)) expect(widthOf(line)).toBeLessThanOrEqual(8);
	});
});

test("a terminal gets no sequence but colours, also of a line that no command has tamed; another program gets the line as it is", () => {
	const line = "a\u001b[31mred\u001b[0m\u001b[2J\u001b]0;title\u0007\u0008b\rc";
	for (const isTTY of [true, false]) {
		const said = { out: "", err: "" };
		const stdout = { write: (text: string) => (said.out += text), isTTY };
		const stderr = { write: (text: string) => (said.err += text), isTTY };
		const printer = createPrinter({ stdout, stderr, quiet: false, json: false, noColor: false, env: {} });
		printer.out(line);
		printer.say(line);
		printer.warn(line);
		const shown = isTTY ? "a\u001b[31mred\u001b[0mb\nc\n" : `${line}\n`;
		expect(said).toEqual({ out: shown, err: shown + shown });
	}
});

describe("colours", () => {
	const painted = (more: { tty?: boolean; noColor?: boolean; env?: Record<string, string> }) => {
		const stream = { write: () => {}, isTTY: more.tty ?? true };
		const options = { stdout: stream, stderr: stream, quiet: false, json: false, noColor: more.noColor ?? false, env: more.env ?? {} };
		return createPrinter(options).paint("red", "x") !== "x";
	};
	test.each([
		["on a terminal", {}, true],
		["not elsewhere", { tty: false }, false],
		["not with --no-color", { noColor: true }, false],
		["not with NO_COLOR", { env: { NO_COLOR: "1" } }, false],
		["an empty NO_COLOR says nothing", { env: { NO_COLOR: "" } }, true],
		["not on a dumb terminal", { env: { TERM: "dumb" } }, false],
		["FORCE_COLOR where no terminal is", { tty: false, env: { FORCE_COLOR: "1" } }, true],
	])("%s", (_, more, on) => {
		expect(painted(more)).toBe(on);
	});
});
