// How artifacts are written, which branch names git accepts, and the keys of the facts that a job depends on.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeJob } from "../../test/make/job.ts";
import {
	ARTIFACT_KINDS,
	artifactFault,
	artifactKey,
	branchFault,
	conditionKey,
	conditionText,
	headKey,
	isMarker,
	isProbed,
	itemKey,
	jobOfArtifact,
	nameOfArtifact,
} from "./fact.ts";

describe("artifacts", () => {
	test.each([
		"file:a",
		"file:a/b c.txt",
		"file:/etc/passwd",
		"branch:main",
		"branch:feature/x-1",
		"doc:main:docs/plan.md",
		"doc:main:a:b",
		"commits:main",
		"ahead:feature/x",
		"sentinel:merged-7",
		"patch:7",
		"job:7",
		"custom:type:key",
		"custom:type:key:with:colons",
		"probe:disk",
	])("%s", (artifact) => {
		expect(artifactFault(artifact)).toBeUndefined();
	});

	test.each([
		"",
		":",
		":a",
		"file",
		"file:",
		"nothing:a",
		"File:a",
		" file:a",
		"job:",
		"job:0",
		"job:-1",
		"job:a b",
		"job:07",
		"job:1234567890123456",
		"patch:a/b",
		"doc:main",
		"doc::path",
		"doc:main:",
		"doc:-x:path",
		"custom:type",
		"custom::key",
		"custom:type:",
		"branch:-x",
		"branch:a b",
		"branch:a..b",
		"commits:a~1",
		"ahead:a^",
		"toString:a",
		"__proto__:a",
	])("%j is refused", (artifact) => {
		expect(artifactFault(artifact)).toMatch(/\S/);
	});

	test("any text either parses to a kind and a value, or gets a reason", () => {
		fc.assert(
			fc.property(
				fc.oneof(
					fc.string(),
					fc.tuple(fc.constantFrom(...ARTIFACT_KINDS), fc.string()).map((parts) => parts.join(":")),
				),
				(text) => {
					const fault = artifactFault(text);
					if (fault === undefined) {
						expect(ARTIFACT_KINDS as readonly string[]).toContain(text.slice(0, text.indexOf(":")));
						expect(text.indexOf(":")).toBeLessThan(text.length - 1);
					} else expect(fault.length).toBeGreaterThan(5);
				},
			),
		);
	});

	test("a job and its patch by name", () => {
		expect(["job:build", "patch:1.5", "patch:7", "file:x", "patch:a b"].map(nameOfArtifact)).toEqual([
			"build",
			"1.5",
			undefined,
			undefined,
			undefined,
		]);
		expect(artifactFault("patch:build")).toBeUndefined();
	});

	test("which of them a host has to probe", () => {
		expect(["custom:a:b", "sentinel:a"].every(isMarker)).toBe(true);
		expect(["file:a", "job:7", "patch:7", "probe:custom:a"].some(isMarker)).toBe(false);
		expect([jobOfArtifact("job:7"), jobOfArtifact("patch:12"), jobOfArtifact("file:job:7"), jobOfArtifact("job:x")]).toEqual([
			7,
			12,
			undefined,
			undefined,
		]);
		expect(ARTIFACT_KINDS.filter((kind) => isProbed(`artifact:${kind}:x`))).toEqual([
			"file",
			"branch",
			"doc",
			"commits",
			"ahead",
			"patch",
			"probe",
		]);
		expect(["head:r:main", "condition:clean_worktree", "item:cards:1"].every(isProbed)).toBe(true);
	});
});

describe("branch names, as git check-ref-format has them", () => {
	test.each(["main", "a/b", "a.b", "a-b", "a_b", "ä", "feature/123", "a@b", "HEAD2", "a.locks", "a/b.c"])("%s", (name) => {
		expect(branchFault(name)).toBeUndefined();
	});
	test.each([
		"-a",
		"--upload-pack=x",
		"a b",
		"a~b",
		"a^b",
		"a:b",
		"a?b",
		"a*b",
		"a[b",
		"a\\b",
		"a..b",
		"a@{b",
		"a//b",
		"/a",
		"a/",
		"a.",
		"a.lock",
		"a\u0001b",
		"a\u007fb",
		"a\nb",
		"@",
		".a",
		"a/.b",
		"a.lock/b",
	])("%j is none", (name) => {
		expect(branchFault(name)).toMatch(/\S/);
	});
});

describe("keys", () => {
	test("artifacts of git and disk belong to a repo, markers and jobs do not", () => {
		expect(artifactKey("branch:main", "web")).toBe("artifact:branch:main@web");
		expect(artifactKey("branch:main", undefined)).toBe("artifact:branch:main");
		expect(artifactKey("custom:a:b", "web")).toBe("artifact:custom:a:b");
		expect(artifactKey("sentinel:a", "web")).toBe("artifact:sentinel:a");
		expect(artifactKey("job:7", "web")).toBe("artifact:job:7");
		expect(artifactKey("patch:7", "web")).toBe("artifact:patch:7");
	});

	test("conditions in their canonical form", () => {
		expect(conditionText({ kind: "clean_worktree" })).toBe("clean_worktree");
		expect(conditionText({ kind: "branch_exists", branch: "main" })).toBe("branch_exists:main");
		expect(conditionText({ kind: "command", argv: ["a", "b c"] })).toBe('command:["a","b c"]');
		expect(conditionKey({ kind: "clean_worktree" }, makeJob({ repo: "web" }))).toBe("condition:clean_worktree@web");
		expect(conditionKey({ kind: "clean_worktree" }, makeJob())).toBe("condition:clean_worktree");
	});

	test("heads and items", () => {
		expect(headKey(makeJob({ pinned_head: { branch: "main", commit: "abcd" } }))).toBe("head::main");
		expect(itemKey("cards:7")).toBe("item:cards:7");
	});
});
