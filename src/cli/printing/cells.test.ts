// Values of a job's fields in a list or a block.

import { expect, test } from "vitest";
import { openCommandLine } from "../../../test/make/daemons/command-line.ts";
import { fieldWords } from "./cells.ts";

test.each([
	[
		"after",
		[
			{ job: 31, policy: "success" },
			{ job: 32, policy: "any" },
		],
		"31, 32:any",
	],
	[
		"locks",
		[
			{ key: "db", mode: "exclusive" },
			{ key: "cache", mode: "shared" },
		],
		"db, cache:shared",
	],
	["needs", ["branch:main", "doc:main:a.txt"], "branch:main, doc:main:a.txt"],
	["conditions", [{ kind: "branch_exists", branch: "topic" }], "branch_exists:topic"],
	["command", ["echo", "two words"], "echo 'two words'"],
	["pinned_head", { branch: "main", commit: "0123456789abcdef0123456789abcdef01234567" }, "main@0123456789ab"],
	["wait_reason", { kind: "dependencies", detail: "waiting on job 31" }, "waiting on job 31"],
	["timeout", 90_000, "1m 30s"],
	["uses", { build: 2 }, "build 2"],
	["vars", { who: "bob" }, "who=bob"],
	["retry", { max: 2, on: ["failed"], base_ms: 1000, jitter: null }, "max 2, on failed, base_ms 1000"],
	["after", null, ""],
	["after", "of another version", "of another version"],
	["unheard_of", { a: { b: [1, 2] } }, "a b 1, 2"],
])("%s %j", (field, value, words) => {
	expect(fieldWords(field, value)).toBe(words);
});

test("list and show print them, never JSON", async () => {
	const job = { id: 7, status: "queued", after: [{ job: 31, policy: "success" }], locks: [{ key: "db", mode: "exclusive" }], needs: [] };
	const line = await openCommandLine({ "job.show": { job }, "job.list": { jobs: [job] } });
	expect((await line.run("list --fields id,after,locks,needs")).out).toBe("ID  AFTER  LOCKS\n 7  31     db\n");
	expect((await line.run("show 7 --fields after,locks")).out).toBe("after  31\nlocks  db\n");
});
