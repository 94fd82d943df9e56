// JSON that is passed on as text: what stays unchanged, and what stays a plain value.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { depthOf, exactJson, JsonText, readJson, writeJson } from "./json-text.ts";

const EXACT = [
	'{"message_id":1234567890123456789}',
	'{"10":1,"9":2,"a":3}',
	'{"share":1.0,"tiny":1e-400,"big":1E400,"minus":-0}',
	'{"a":1,"a":2}',
	'{"nul":"\\u0000","half":"\\uD800","slash":"\\/"}',
	'[[{"deep":[1.50]}]]',
	"12345678901234567890",
	`${"[".repeat(500)}${"]".repeat(500)}`,
];

describe("a payload comes back as it was sent", () => {
	for (const text of EXACT)
		test(text.slice(0, 60), () => {
			const request = `{"jsonrpc":"2.0","id":1,"params":{"list":[{"payload":${text}}]}}`;
			expect(writeJson(readJson(request))).toBe(request);
			expect(writeJson(exactJson(text))).toBe(text);
		});

	test("a payload that JavaScript represents completely stays a value", () => {
		expect(readJson('{"payload": {"a": [1, "x", null]}}')).toEqual({ payload: { a: [1, "x", null] } });
		expect(exactJson(' {"a": 1} ')).toEqual({ a: 1 });
	});

	test("without the spaces between its parts, but with those in texts", () => {
		expect(writeJson(readJson('{ "payload" : { "a b" : 1.0 ,\n "c" : [ "x \\" y" , 2.0 ] } }'))).toBe(
			'{"payload":{"a b":1.0,"c":["x \\" y",2.0]}}',
		);
	});

	test("only under a key payload, and not inside of one", () => {
		expect(readJson('{"other":1.0,"text":"\\"payload\\": 1.0"}')).toEqual({ other: 1, text: '"payload": 1.0' });
		const outer = readJson('{"payload":{"payload":1.0}}') as { payload: JsonText };
		expect(outer.payload.text).toBe('{"payload":1.0}');
	});

	test("a key that comes twice: the last counts, as in JSON.parse", () => {
		expect(readJson('{"payload":1.0,"payload":{"a":1}}')).toEqual({ payload: { a: 1 } });
		expect(readJson('{"p":{"payload":1.0},"p":{"b":1}}')).toEqual({ p: { b: 1 } });
	});

	test("a string that looks like a mark stays a string", () => {
		const document = { payload: new JsonText("1.0"), note: "\u0001json:0", inside: 'x"\u0001json:0"' };
		expect(writeJson(document)).toBe('{"payload":1.0,"note":"\\u0001json:0","inside":"x\\"\\u0001json:0\\""}');
	});

	test("text that is not JSON is refused", () => {
		expect(() => new JsonText("{")).toThrow(SyntaxError);
		expect(() => readJson('{"payload":')).toThrow(SyntaxError);
	});

	test("JSON.stringify writes the JavaScript value", () => {
		expect(JSON.stringify({ payload: new JsonText("1.50") })).toBe('{"payload":1.5}');
	});

	test("depth counts brackets, not those in texts", () => {
		expect([depthOf('{"a":["[[[",{}]}'), depthOf("1")]).toEqual([3, 0]);
	});

	test("any document goes through unchanged", () => {
		fc.assert(
			fc.property(fc.json({ maxDepth: 5 }), fc.json({ maxDepth: 5 }), (inner, outer) => {
				const text = `{"a":${outer},"payload":${inner},"jobs":[{"payload":${inner}},${outer}]}`;
				expect(JSON.parse(writeJson(readJson(text)))).toEqual(JSON.parse(text));
			}),
		);
	});
});
