// The last line of an agent's output, which may have no line end.

import { describe, expect, test } from "vitest";
import { createReader } from "./reading.ts";

function read(text: string) {
	const noise: string[] = [];
	const reader = createReader(
		"claude",
		() => {},
		(line) => noise.push(line),
	);
	reader.push(new TextEncoder().encode(text));
	return { ...reader.end(), lines: noise };
}

describe("a last line without a line end", () => {
	test("counts like any other, if it is text", () => {
		const found = read("error: connection refused");
		expect([found.noise, found.other_lines, found.lines]).toEqual(["error: connection refused", 1, ["error: connection refused"]]);
	});

	test("gives only its session, if it is the beginning of an unknown event", () => {
		const found = read('{"type":"renamed","session_id":"abc","message":{"content":[{"type":"text","text":"hel');
		expect([found.session, found.noise, found.other_lines, found.message]).toEqual(["abc", "", 0, ""]);
	});
});
