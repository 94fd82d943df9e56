// What the form makes of what was typed, and of a job that is copied.

import { expect, test } from "vitest";
import type { JobDocument } from "../../src/api/documents.ts";
import { draftOf, emptyDraft, inputOf, isWritten, readDraft } from "./draft.ts";

test("only what was typed, and what is of use for its kind, becomes a field", () => {
	const typed = {
		...emptyDraft(),
		prompt: "Fix it\nnow ",
		command: "make test",
		agent: "claude",
		model: "opus",
		lane: " code ",
		priority: "5",
	};
	expect(inputOf(typed)).toEqual({ prompt: "Fix it\nnow ", agent: "claude", model: "opus", lane: "code", priority: 5 });
	expect(inputOf({ ...typed, kind: "command" })).toEqual({ command: ["/bin/sh", "-c", "make test"], lane: "code", priority: 5 });
	expect(inputOf({ ...emptyDraft(), kind: "recipe", recipe: "fix", vars: { a: "1", b: "" } })).toEqual({ recipe: "fix", vars: { a: "1" } });
});

test("predecessors are names or numbers; what is no number goes to the daemon as it is, which says what is wrong with it", () => {
	expect(inputOf({ ...emptyDraft(), after: "12, build:any  7" })).toEqual({ after: [12, "build:any", 7] });
	expect(inputOf({ ...emptyDraft(), priority: "high", retry: "2" })).toEqual({ priority: "high", retry: 2 });
});

const JOB = {
	id: 7,
	name: "build",
	agent: null,
	recipe: null,
	prompt: null,
	command: ["make", "-j", "two words"],
	lane: "code",
	priority: 0,
	after: [{ job: 3, policy: "success" }],
	locks: [{ key: "db", mode: "shared" }],
	retry: { max: 2 },
	timeout: 60_000,
	vars: null,
	requires_approval: false,
	no_merge: false,
	permission: null,
	host_labels: ["linux"],
	needs: [],
} as unknown as JobDocument;

test("a copy runs the same words, until its text is changed; it has no name, and keeps what the form does not show", () => {
	const draft = draftOf(JOB);
	const { command, ...rest } = inputOf(draft);
	expect(command).toEqual(["make", "-j", "two words"]);
	expect(rest).toEqual({ lane: "code", after: [3], locks: ["db:shared"], retry: 2, timeout: "60000ms", host_labels: ["linux"] });
	expect(inputOf({ ...draft, command: "make -k" }).command).toEqual(["/bin/sh", "-c", "make -k"]);
});

test("a kept draft is read again; rubbish is none", () => {
	const draft = { ...emptyDraft(), prompt: "x" };
	expect(readDraft(JSON.stringify(draft))).toEqual(draft);
	expect(readDraft("{")).toBeNull();
	expect([isWritten(emptyDraft()), isWritten(draft), isWritten({ ...emptyDraft(), kind: "command" })]).toEqual([false, true, false]);
});
