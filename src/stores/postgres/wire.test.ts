// The message as the library's own writer makes it, but for its formats.

import { expect, test } from "vitest";
import { executeMessage } from "./wire.ts";

/** What is in it, read as the server reads it. */
function read(message: Buffer) {
	const kinds: string[] = [];
	let bound: { statement: string; values: (string | null)[] } | undefined;
	for (let at = 0; at < message.length; ) {
		const kind = String.fromCharCode(message[at] as number);
		const length = message.readInt32BE(at + 1);
		const body = message.subarray(at + 5, at + 1 + length);
		kinds.push(kind);
		if (kind === "B") bound = readBind(body);
		at += 1 + length;
	}
	return { kinds: kinds.join(""), ...bound };
}

function readBind(body: Buffer) {
	let at = body.indexOf(0) + 1;
	expect(at).toBe(1);
	const end = body.indexOf(0, at);
	const statement = body.toString("utf8", at, end);
	at = end + 1;
	expect(body.readInt16BE(at)).toBe(0);
	const count = body.readInt16BE(at + 2);
	at += 4;
	const values: (string | null)[] = [];
	for (let n = 0; n < count; n++) {
		const length = body.readInt32BE(at);
		at += 4;
		values.push(length < 0 ? null : body.toString("utf8", at, at + length));
		at += Math.max(0, length);
	}
	expect(body.readInt16BE(at)).toBe(0);
	expect(at + 2).toBe(body.length);
	return { statement, values };
}

test("texts of every length and script, numbers, nothing", () => {
	const long = "x".repeat(5_000);
	const values = [
		"",
		"a",
		"ü",
		"€uro 🎈",
		"ä".repeat(40),
		"🎈".repeat(20),
		long,
		`${long}🎈`,
		0,
		-1.5,
		1794848500619,
		null,
		undefined,
		true,
	];
	const told = values.map((value) => (value === null || value === undefined ? null : String(value)));
	expect(read(executeMessage("s12", values, false))).toEqual({ kinds: "BES", statement: "s12", values: told });
	expect(read(executeMessage("s12", values, true))).toEqual({ kinds: "BDES", statement: "s12", values: told });
});

test("no values", () => {
	expect(read(executeMessage("s0", [], false))).toEqual({ kinds: "BES", statement: "s0", values: [] });
});

test("what is no text at all becomes one", () => {
	const alone = "\ud800";
	const { values } = read(executeMessage("s", [alone, alone + "x".repeat(50)], false));
	expect(values).toEqual(["\ufffd", `\ufffd${"x".repeat(50)}`]);
});
