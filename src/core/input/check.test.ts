// Checks of single values: valid ones are returned normalised, invalid ones are named.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SluiceError } from "../errors.ts";
import * as check from "./check.ts";

/** The error that a call throws; fails if there is none, or if it is not a SluiceError. */
function refusal(call: () => unknown): SluiceError {
	try {
		call();
	} catch (error) {
		if (error instanceof SluiceError) return error;
		throw error;
	}
	throw new Error("nothing was refused");
}

const LONE = "\ud800";
const anything = fc.anything({
	withBigInt: true,
	withDate: true,
	withMap: true,
	withSet: true,
	withNullPrototype: true,
	withSparseArray: true,
	withTypedArray: true,
});

describe("any value at all", () => {
	const checks: Record<string, (value: unknown) => unknown> = {
		record: (value) => check.record(value, "f"),
		text: (value) => check.text(value, "f"),
		line: (value) => check.text(value, "f", { lines: "one", max: 10 }),
		word: (value) => check.word(value, "f"),
		label: (value) => check.label(value, "f"),
		oneOf: (value) => check.oneOf(value, ["a", "b"], "f"),
		integer: (value) => check.integer(value, "f", -5, 5),
		number: (value) => check.number(value, "f", 0, 1),
		flag: (value) => check.flag(value, "f"),
		list: (value) => check.list(value, "f", 3),
		labels: (value) => check.labels(value, "f"),
		duration: (value) => check.duration(value, "f"),
		instant: (value) => check.instant(value, "f"),
		json: (value) => check.json(value, "f"),
	};
	test.each(Object.keys(checks))("%s accepts it or names the field", (name) => {
		fc.assert(
			fc.property(
				fc.oneof(
					anything,
					fc.string({ unit: "binary" }),
					fc.constantFrom(Symbol("s"), () => 1, Number.NaN, -0),
				),
				(value) => {
					let error: SluiceError | undefined;
					try {
						checks[name]?.(value);
					} catch (caught) {
						if (!(caught instanceof SluiceError)) throw caught;
						error = caught;
					}
					if (error) {
						expect(error.field).toMatch(/^f($|[.[])/);
						expect(error.message.startsWith(error.field as string)).toBe(true);
						expect(["invalid", "limit"]).toContain(error.code);
					}
				},
			),
			{ numRuns: 200 },
		);
	});
});

describe("shown", () => {
	test.each([
		[null, "null"],
		[undefined, "undefined"],
		[Number.NaN, "NaN"],
		[5n, "5"],
		["a\nb", '"a\\nb"'],
		[[1, 2], "a list of 2"],
		[{}, "an object"],
		[() => 1, "a function"],
		[Symbol("x"), "a symbol"],
		["x".repeat(61), `"${"x".repeat(60)}…" (61 characters)`],
		["x".repeat(60), `"${"x".repeat(60)}"`],
	])("%# %s", (value, text) => {
		expect(check.shown(value)).toBe(text);
	});

	test("is short, whatever it is shown", () => {
		fc.assert(fc.property(anything, (value) => check.shown(value).length < 500));
		expect(check.shown("\u0001".repeat(10_000_000)).length).toBeLessThan(500);
	});
});

describe("text", () => {
	test("is kept as it is", () => {
		for (const text of ["", "ä\n\tb", "👩‍👩‍👧", "مرحبا", "\u{10ffff}"]) expect(check.text(text, "f")).toBe(text);
	});

	test.each([
		["\u0000", "many"],
		[`a${LONE}`, "many"],
		["\udc00b", "many"],
		[`${LONE}${LONE}`, "many"],
		["\udc00\ud800", "many"],
		["a\nb", "one"],
		["a\tb", "one"],
		["\u001b[31m", "one"],
		["\u007f", "one"],
	] as [string, "one" | "many"][])("%j is refused in %s", (text, lines) => {
		expect(refusal(() => check.text(text, "f", { lines }))).toMatchObject({ code: "invalid", field: "f" });
	});

	test("lone surrogates are found wherever they stand", () => {
		fc.assert(
			fc.property(
				fc.string({ unit: "grapheme" }),
				fc.constantFrom("\ud800", "\udbff", "\udc00", "\udfff"),
				fc.string({ unit: "grapheme" }),
				(a, half, b) => {
					const text = a + half + b;
					const well = (text as string & { isWellFormed(): boolean }).isWellFormed();
					if (well) expect(check.text(text, "f")).toBe(text);
					else expect(refusal(() => check.text(text, "f")).code).toBe("invalid");
				},
			),
		);
	});

	test("has a length", () => {
		expect(check.text("x".repeat(check.MAX_TEXT), "f").length).toBe(check.MAX_TEXT);
		expect(refusal(() => check.text("x".repeat(check.MAX_TEXT + 1), "f"))).toMatchObject({ code: "limit", field: "f" });
		expect(refusal(() => check.text("xxxx", "f", { max: 3 })).message).toBe("f: is 4 characters long; the limit is 3");
	});
});

describe("words and names", () => {
	test.each(["a", "A1", "ä", "日本", "1", "_", "a b", "a:b", "a/b", "ø-1", "…"])("%j is a word", (word) => {
		expect(check.word(word, "f")).toBe(word);
	});
	test.each(["", " a", "a ", "-a", "--upload-pack=x", ".", "..", "../a", "a/../b", "a/..", "a\\b", "a\nb", "a\u0000", "x".repeat(201)])(
		"%j is no word",
		(word) => {
			expect(refusal(() => check.word(word, "f")).field).toBe("f");
		},
	);
	test.each(["a", "A1", "ä", "日本", "1", "_x", "a.b", "a@b", "a+b", "a-b"])("%j is a name", (name) => {
		expect(check.label(name, "f")).toBe(name);
	});
	test.each(["a b", "a:b", "a/b", ".a", "@a", "+a", "__proto__", "constructor", "prototype", "a,b", "a\u200bb", "🙂"])(
		"%j is no name",
		(name) => {
			expect(refusal(() => check.label(name, "f"))).toMatchObject({ code: "invalid", field: "f" });
		},
	);

	test("lists of names lose duplicates, and an error names the wrong entry", () => {
		expect(check.labels(["b", "a", "b"], "f")).toEqual(["b", "a"]);
		expect(refusal(() => check.labels(["b", "a b"], "f")).field).toBe("f[1]");
		expect(refusal(() => check.labels(Array(101).fill("a"), "f")).code).toBe("limit");
	});
});

describe("one of some", () => {
	test("the nearest is suggested", () => {
		expect(check.oneOf("success", ["success", "failure"], "f")).toBe("success");
		expect(refusal(() => check.oneOf("sucess", ["success", "failure"], "f"))).toMatchObject({
			code: "invalid",
			field: "f",
			message: 'f: must be one of success, failure, not "sucess"',
			hint: 'did you mean "success"?',
		});
		expect(refusal(() => check.oneOf(7, ["success"], "f")).hint).toBeUndefined();
		expect(refusal(() => check.oneOf("toString", ["a"], "f")).code).toBe("invalid");
	});
});

describe("numbers", () => {
	test.each([1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", 1n, null, undefined, true, [1], {}])("%s is not whole", (value) => {
		expect(refusal(() => check.integer(value, "f", 0))).toMatchObject({ code: "invalid", field: "f" });
	});
	test("from and to", () => {
		expect([0, 5, 10].map((value) => check.integer(value, "f", 0, 10))).toEqual([0, 5, 10]);
		expect(refusal(() => check.integer(-1, "f", 0, 10)).message).toBe("f: must be from 0 to 10, not -1");
		expect(refusal(() => check.integer(11, "f", 0, 10)).message).toBe("f: must be from 0 to 10, not 11");
		expect(refusal(() => check.integer(2 ** 53, "f", 0)).code).toBe("invalid");
		expect(Object.is(check.integer(-0, "f", 0), 0)).toBe(true);
		expect(check.number(0.5, "f", 0, 1)).toBe(0.5);
		expect(refusal(() => check.number(Number.NaN, "f", 0, 1)).field).toBe("f");
		expect(refusal(() => check.number(1.01, "f", 0, 1)).field).toBe("f");
	});
});

describe("durations", () => {
	test.each([
		[0, 0],
		[500, 500],
		["500ms", 500],
		["30s", 30_000],
		["5m", 300_000],
		["1h30m", 5_400_000],
		["1.5h", 5_400_000],
		["2d", 172_800_000],
		["0s", 0],
	])("%s", (value, ms) => {
		expect(check.duration(value, "f")).toBe(ms);
	});
	test.each([
		"",
		"5",
		"5 m",
		"-5m",
		"5M",
		"m5",
		"1h 30m",
		"∞",
		"1e3s",
		"5m5",
		-1,
		1.5,
		Number.NaN,
		null,
		true,
		{},
		"99999999999999d",
		8.65e15,
	])("%s is none", (value) => {
		expect(refusal(() => check.duration(value, "f"))).toMatchObject({ code: "invalid", field: "f" });
	});
});

describe("times", () => {
	test.each([
		[0, 0],
		[1_700_000_000_000, 1_700_000_000_000],
		["2030-01-31T08:00:00Z", Date.UTC(2030, 0, 31, 8)],
		["2030-01-31 08:00:00Z", Date.UTC(2030, 0, 31, 8)],
		["2030-01-31T08:00Z", Date.UTC(2030, 0, 31, 8)],
		["2030-01-31T08:00:00+02:00", Date.UTC(2030, 0, 31, 6)],
		["2030-01-31T08:00:00.123Z", Date.UTC(2030, 0, 31, 8, 0, 0, 123)],
		["2028-02-29T00:00:00Z", Date.UTC(2028, 1, 29)],
	])("%s", (value, at) => {
		expect(check.instant(value, "f")).toBe(at);
	});
	test.each([
		"",
		"now",
		"2030-01-31",
		"2030-01-31T08:00:00",
		"31.1.2030",
		"2030-13-01T00:00:00Z",
		"2030-01-32T00:00:00Z",
		"2030-02-30T00:00:00Z",
		"2029-02-29T00:00:00Z",
		"2030-01-31T25:00:00Z",
		"2030-01-31T08:00:00+99:00",
		"1969-12-31T23:59:59Z",
		-1,
		1.5,
		Number.NaN,
		8.65e15,
		null,
		new Date(0),
	])("%s is none", (value) => {
		expect(refusal(() => check.instant(value, "f"))).toMatchObject({ code: "invalid", field: "f" });
	});
});

describe("objects", () => {
	test("what is not an object of keys is refused", () => {
		for (const value of [null, [], "x", 5, undefined, () => 1]) expect(refusal(() => check.record(value, "f")).field).toBe("f");
		expect(check.record({ a: 1 }, "f")).toEqual({ a: 1 });
		expect(check.record(Object.create(null), "f")).toEqual({});
	});

	test.each([new Date(0), new Map([["a", 1]]), new Set([1]), /x/, new Error("x"), new Uint8Array(3), Promise.resolve(1)])(
		"%s would be taken for an empty one",
		(value) => {
			expect(refusal(() => check.record(value, "f"))).toMatchObject({ code: "invalid", field: "f" });
		},
	);

	test("unknown keys, with the nearest one or all of them", () => {
		check.knownKeys({ a: 1, b: 2 }, ["a", "b", "c"], "f");
		expect(refusal(() => check.knownKeys({ comand: 1 }, ["command", "agent"], "f"))).toMatchObject({
			code: "unknown_key",
			field: "f.comand",
			message: "f.comand: there is no such key",
			hint: 'did you mean "command"?',
		});
		expect(refusal(() => check.knownKeys({ qqqq: 1 }, ["command", "agent"], ""))).toMatchObject({
			field: "qqqq",
			hint: "known keys: command, agent",
		});
		expect(refusal(() => check.knownKeys(JSON.parse('{"__proto__": 1}'), ["a"], "")).field).toBe("__proto__");
	});

	test("an endless key makes neither an endless message nor an endless field", () => {
		const error = refusal(() => check.knownKeys({ ["k".repeat(1_000_000)]: 1 }, ["a"], "f"));
		expect(error.message.length).toBeLessThan(500);
		expect(error.field?.length).toBeLessThan(500);
		expect(error.message).not.toMatch(/…" \(\d+ characters: /);
	});
});

describe("JSON", () => {
	test("comes back as it is", () => {
		fc.assert(
			fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
				expect(check.json(value, "f")).toEqual(value);
			}),
		);
	});

	test("values that JSON would drop, change or fail on are refused by name", () => {
		const cyclic: Record<string, unknown> = {};
		cyclic.self = cyclic;
		for (const [value, field] of [
			[undefined, "f"],
			[Number.NaN, "f"],
			[{ a: [1, Number.POSITIVE_INFINITY] }, "f.a[1]"],
			[{ a: () => 1 }, "f.a"],
			[{ a: Symbol("x") }, "f.a"],
			[{ a: 5n }, "f.a"],
			[{ a: new Date(0) }, "f.a"],
			[{ a: new Map() }, "f.a"],
			[{ a: [undefined] }, "f.a[0]"],
			[{ a: "\ud800" }, "f.a"],
			[{ a: { toJSON: () => 1 } }, "f.a.toJSON"],
		] as [unknown, string][])
			expect(refusal(() => check.json(value, "f"))).toMatchObject({ code: "invalid", field });
		expect(refusal(() => check.json(cyclic, "f"))).toMatchObject({ code: "limit" });
	});

	test("a hole in a list is refused as well", () => {
		// biome-ignore lint/suspicious/noSparseArray: that is what is tested
		expect(refusal(() => check.json([1, , 2], "f")).field).toBe("f[1]");
	});

	test("keys are text, too", () => {
		expect(refusal(() => check.json({ "\ud800": 1 }, "f")).code).toBe("invalid");
	});

	test("has a depth", () => {
		const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);
		expect(check.json(nested(64), "f")).toEqual(nested(64));
		expect(refusal(() => check.json(nested(65), "f")).code).toBe("limit");
	});

	test("has a size", () => {
		expect(check.json({ a: "x".repeat(999_990) }, "f")).toBeDefined();
		expect(refusal(() => check.json({ a: "x".repeat(500_000), b: "x".repeat(500_000) }, "f"))).toMatchObject({ code: "limit", field: "f" });
		expect(refusal(() => check.json(Array(600_000).fill(1), "f")).code).toBe("limit");
	});

	test("data that is small in memory and huge as JSON is refused during the traversal", () => {
		// Each level names the one below twice: 40 objects, 2⁴⁰ when written out.
		let looks = 0;
		let value: unknown = 1;
		for (let level = 0; level < 40; level++) {
			const below = value;
			const get = () => {
				if (++looks > 3_000_000) throw new Error("looked at it three million times");
				return below;
			};
			value = Object.defineProperties({}, { a: { get, enumerable: true }, b: { get, enumerable: true } });
		}
		expect(refusal(() => check.json(value, "f")).code).toBe("limit");
	});
});
