// A card's text is read strictly, and a change leaves all other bytes alone.

import { describe, expect, test } from "vitest";
import { readCard, titleOf, withField, withHistory, withoutHistory } from "./front-matter.ts";
import { changed } from "./write.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const set = (text: string, value = "queued") => withField(readCard(bytes(text)), "agent_status", value);

describe("reading", () => {
	test("front matter, body, title", () => {
		const card = readCard(bytes("---\nowner: ann\nx: [1, 2]\n---\n# Do it\n\ntext\n"));
		expect([card.front?.fields, card.body, titleOf(card)]).toEqual([{ owner: "ann", x: [1, 2] }, "# Do it\n\ntext\n", "Do it"]);
	});
	test("without front matter there are no fields", () => {
		expect(readCard(bytes("# A\n---\nb: 1\n---\n")).front).toBeNull();
	});
	test.each([
		["no end", "---\na: 1\n", /line 1: front matter: has no end/],
		["bad YAML", "---\nok: 1\na: [1\n---\n", /line \d: front matter/],
		["a key twice", "---\na: 1\na: 2\n---\n", /line 3: .*a second time/],
		["a list", "---\n- a\n---\n", /must be keys and values/],
	])("%s is named with its line", (_, text, message) => {
		expect(() => readCard(bytes(text))).toThrow(message);
	});
	test("bytes that are not UTF-8, and too many of them", () => {
		expect(() => readCard(new Uint8Array([0x2d, 0x2d, 0xff, 0xfe]))).toThrow("is not UTF-8");
		expect(() => readCard(new Uint8Array(5_000_000))).toThrow("at most");
	});
});

describe("changing a field touches nothing else", () => {
	test.each([
		["a value", "---\na: 1 # c\nagent_status: idle   # mine\nz: {b: 2}\n---\nbody\n", "idle", "queued"],
		["quoted", "---\nagent_status: 'idle'\n---\n", "'idle'", "queued"],
		["empty", "---\nagent_status:\nz: 1\n---\n", "agent_status:", "agent_status: queued"],
		["empty with a comment", "---\nagent_status: # none\nz: 1\n---\n", "agent_status:", "agent_status: queued"],
		["null", "---\nagent_status: ~\n---\n", "~", "queued"],
		["Windows line ends", "---\r\nagent_status: idle\r\nz: 1\r\n---\r\nbody\r\n", "idle", "queued"],
		["in braces", "---\n{a: 1, agent_status: idle}\n---\n", "idle", "queued"],
		["a byte-order mark", "\ufeff---\nagent_status: idle\n---\n", "idle", "queued"],
	])("%s", (_, text, from, to) => {
		expect(set(text)).toBe(text.replace(from, to));
	});
	test("a missing key comes last, with the file's own line ends", () => {
		expect(set("---\r\na: 1\r\n---\r\nb")).toBe("---\r\na: 1\r\nagent_status: queued\r\n---\r\nb");
		expect(set("---\n---\nb")).toBe("---\nagent_status: queued\n---\nb");
	});
	test("a change that would touch more is refused", () => {
		expect(() => set("# no front matter\n")).toThrow("has no front matter");
		expect(() => set("---\n{a: 1}\n---\n")).toThrow("braces");
		expect(() => set("---\nb: &x idle\nagent_status: idle\nc: 1\n---\n", "queued")).not.toThrow();
		expect(() => set("---\nagent_status: &x idle\nc: *x\n---\n")).toThrow();
	});
});

describe("history", () => {
	test.each([
		["a new section", "# A\n", "# A\n\n## History\n\n- x\n"],
		["at the end of one", "# A\n## History\n\n- old\n", "# A\n## History\n\n- old\n- x\n"],
		["before the next heading", "## History\n- old\n\n## Notes\nn\n", "## History\n- old\n- x\n\n## Notes\nn\n"],
		["sub-headings belong to it", "## History\n### May\n- old\n", "## History\n### May\n- old\n- x\n"],
		["no line end at the end", "## History\n- old", "## History\n- old\n- x\n"],
		["under a bare heading", "## History\n", "## History\n\n- x\n"],
		["under a bare heading with a blank line", "## History\n\n## B\n", "## History\n\n- x\n## B\n"],
	])("%s", (_, text, want) => {
		expect(withHistory(text, "\n", "x")).toBe(want);
	});
	test.each([
		["its own section goes", "# A\n\nDo it.\n\n## History\n\n- 2030-01-31T08:00:00Z run 7.1 implement: succeeded\n", "# A\n\nDo it."],
		[
			"what a person wrote there stays",
			"# A\n\n## History\n\n- decided in May\n- 2030-01-31T08:00:00Z run 7.1 implement: failed: x\n\n## Notes\nn\n",
			"# A\n\n## History\n\n- decided in May\n\n## Notes\nn",
		],
		[
			"Windows line ends",
			"# A\r\n\r\n## History\r\n\r\n- 2030-01-31T08:00:00Z job 7 code: queued\r\n## B\r\nb\r\n",
			"# A\r\n\r\n## B\r\nb",
		],
		["none", "# A\n\nHistory matters.\n", "# A\n\nHistory matters."],
	])("is left out of what an agent reads: %s", (_, text, want) => {
		expect(withoutHistory(text).trim()).toBe(want);
	});
	test("with Windows line ends", () => {
		expect(withHistory("# A\r\n\r\n## History\r\n\r\n- old\r\n", "\r\n", "x")).toBe("# A\r\n\r\n## History\r\n\r\n- old\r\n- x\r\n");
	});
});

describe("what a person wrote stays", () => {
	const card = (status: string) => bytes(`---\nagent_status: ${status}\n---\n`);
	test("a status that ours may not replace is left, and reported", () => {
		expect(changed(card("idle"), { status: "succeeded" })).toMatchObject({
			text: null,
			left: expect.stringContaining("agent_status is idle"),
		});
		expect(changed(card("canceled"), { status: "running" })).toMatchObject({ text: null });
	});
	test("a line of history is written once", () => {
		const line = { text: "2030-01-01 run 7.1 implement: succeeded", once: "run 7.1 " };
		const { text } = changed(card("running"), { status: "succeeded", line });
		expect(text).toContain("- 2030-01-01 run 7.1 implement: succeeded");
		expect(changed(bytes(text as string), { status: "succeeded", line })).toEqual({ text: null, left: null });
	});
});
