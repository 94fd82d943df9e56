// Last words as agents really write them, and what a run that ended with them means.

import { describe, expect, test } from "vitest";
import { closing, closingWords, type Expect, hingesOnChange } from "./closing.ts";

const is = (message: string) => closingWords(message)?.is ?? null;

const UNDERSTOOD = { not_understood: 0, other_lines: 0 };

describe("last words that ask a person to decide", () => {
	test.each([
		// Claude Code without the tool for questions
		"I've looked at both ways. Which database should I use, PostgreSQL or SQLite?",
		"I need your permission to write to `config.json`. May I proceed?",
		"It looks like I don't have permission to write to that file. Would you like me to try again?",
		"Before I begin, I have a question:\n\n**Should the export contain deleted users as well?**",
		"There are two ways to do this:\n\n1. **Migrate in place** – faster\n2. **Copy the table** – safer\n\nWhich one do you prefer?",
		"Which approach should I take?\n\n1. Rewrite the parser\n2. Patch the lexer\n3. Do nothing",
		"Which approach should I take?\n\n- A: rewrite it\n- B: patch it\n\nLet me know and I'll start.",
		"I have some questions before I can start:\n\n1. What should the endpoint be called?\n2. Which roles may call it?",
		"The write was blocked by the permission settings. Please grant write access, or tell me where I may write.",
		"I will need your approval to run `npm install`.",
		// Codex in a read-only sandbox
		"I couldn't create `hello.txt`: the workspace is mounted read-only. How would you like me to proceed?",
		"The sandbox is read-only, so I can't make the edit here. Please confirm whether I should prepare a patch.",
		"I’m blocked by the read-only filesystem. Do you want me to continue with a patch that you can apply?",
		// Gemini CLI without its shell
		"I do not have a tool to run shell commands. Could you please run `npm test` and share the output with me?",
		"I can write the file, but I need to know the port. What port should the server listen on?",
		"I cannot fulfill this without knowing the target branch. Please specify the branch.",
		// opencode
		"The file already exists with other content. Overwrite it? (y/n)",
		"Should I delete `legacy/` as well, or keep it for now?",
		"Let me know which of the two you'd prefer.",
		"Soll ich die Datei überschreiben?",
		"¿Quieres que continúe?",
		"应该使用哪个数据库？",
	])("%s", (message) => expect(is(message)).toBe("question"));
});

describe("last words that offer something more", () => {
	test.each([
		"The parser now accepts tabs, and all tests pass. Would you like me to add a changelog entry?",
		"The answer is in `docs/limits.md`: 25 runs.\n\nWant me to summarise the other limits, too?",
		"Here is the plan:\n\n1. Split the module\n2. Add tests\n\nWould you like me to write this up as a document?",
		"I found three places that leak. Shall I also look at the tests?",
		"Do you want me to explain how the cache works in more detail?",
	])("%s", (message) => expect(is(message)).toBe("offer"));
});

describe("last words that ask nothing", () => {
	test.each([
		"done",
		"",
		"All 14 tests pass. The change is committed as `3f2c1ab`.",
		"I added the flag. Let me know if you have any questions!",
		"The file is written. Is there anything else I can help you with?",
		"Everything is in place. Let me know if you'd like any changes.",
		"Does this answer your question?",
		'Why did it fail? Because the socket was closed twice. I fixed that in `net.ts`, and the message "Really delete?" is gone.',
		"I renamed it to `isReady?` as asked.\n\n```js\nconst why = ask ? 'because?' : null // ok?\n```",
		"The FAQ now begins with:\n\n> What is a lane?\n\nand has an answer for each of the ten questions.",
		"Remaining work:\n\n- write the docs\n- tag the release",
		"If the tests fail on your machine, run `npm ci` first.",
	])("%s", (message) => expect(is(message)).toBe(null));
});

describe("a run that ended well", () => {
	const asks = "Which port should I use?";
	const offers = "Here is what I found. Would you like me to fix it?";
	const words = { asks, offers, says: "Nothing had to be done." };
	type Row = [expect: Expect, changed: boolean | null, denied: "denied" | "", words: keyof typeof words, outcome: string];
	test.each<Row>([
		["any", true, "", "asks", "ok"],
		["any", true, "denied", "asks", "ok"],
		["any", false, "denied", "says", "it was not allowed to:\n- Bash: npm test\n\nNothing had to be done."],
		["any", false, "", "asks", asks],
		["any", false, "", "offers", offers],
		["any", false, "", "says", "ok"],
		["any", null, "denied", "says", "it was not allowed to:\n- Bash: npm test\n\nNothing had to be done."],
		["any", null, "", "asks", asks],
		["any", null, "", "offers", "ok"],
		["change", true, "", "asks", "ok"],
		["change", false, "", "says", "it changed nothing, though a change was expected; its last words:\nNothing had to be done."],
		[
			"change",
			false,
			"denied",
			"says",
			"it changed nothing, though a change was expected; it was not allowed to:\n- Bash: npm test\n\nNothing had to be done.",
		],
		["change", null, "", "asks", asks],
		["change", null, "", "says", "ok"],
		["none", false, "", "asks", "ok"],
		["none", null, "denied", "asks", "ok"],
	])("expect %s, changed %s, %s, it %s", (expects, changed, denied, said, outcome) => {
		const reading = { denied: denied === "" ? [] : ["Bash: npm test"], asked: [], message: words[said], ...UNDERSTOOD };
		const found = closing(reading, { changed, expect: expects });
		expect(found.outcome === "ok" ? "ok" : found.question).toBe(outcome);
		// If hingesOnChange says no, a change that was not looked up must not matter.
		if (!hingesOnChange(reading, expects)) expect(closing(reading, { changed: null, expect: expects })).toEqual(found);
	});

	test("output that was not understood may have asked", () => {
		const reading = { denied: [], asked: [], message: "", not_understood: 1, other_lines: 0 };
		expect(closing(reading, { changed: false, expect: "any" }).outcome).toBe("needs_human");
		expect(closing({ ...reading, not_understood: 0, other_lines: 1 }, { changed: null, expect: "any" }).outcome).toBe("needs_human");
		expect(closing(reading, { changed: true, expect: "any" }).outcome).toBe("ok");
		expect(closing(reading, { changed: false, expect: "none" }).outcome).toBe("ok");
		expect(hingesOnChange(reading, "any")).toBe(true);
	});

	test("a question through a tool counts whatever is expected", () => {
		const reading = { denied: [], asked: ["Which port?"], message: "", ...UNDERSTOOD };
		expect(closing(reading, { changed: false, expect: "none" })).toEqual({ outcome: "needs_human", question: "Which port?" });
		expect(closing(reading, { changed: true, expect: "none" })).toEqual({ outcome: "ok" });
	});
});
