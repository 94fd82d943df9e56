// What add sends, prints and exits with, against a daemon that answers from a table.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { job, openCommandLine, QUEUED, SETTINGS } from "../../../../test/make/daemons/command-line.ts";
import { makeRepository } from "../../../../test/make/repository.ts";

describe("add", () => {
	test("a command: the number on stdout, messages on stderr", async () => {
		const line = await openCommandLine(QUEUED);
		const result = await line.run(
			"add --lane code --priority 5 --after 3 --after 4:any --lock db --lock docs:shared --retries 2 -- make test",
		);
		expect(result).toEqual({ code: 0, out: "7\n", err: "queued: number 2 of lane default\n" });
		expect(line.asked.at(-1)).toEqual({
			method: "job.add",
			params: {
				command: ["make", "test"],
				cwd: line.home,
				env: { PATH: "/bin" },
				lane: "code",
				priority: 5,
				after: [3, "4:any"],
				locks: ["db", "docs:shared"],
				retry: 2,
			},
		});
	});

	test("a job that is blocked at once says why, and how it would wait", async () => {
		const blocked = job(7, {
			status: "blocked_by_dependency",
			needs: ["file:out/a.txt"],
			on_missing: "block",
			wait_reason: { kind: "dependencies", detail: "missing file:out/a.txt" },
			end_reason: "missing file:out/a.txt",
		});
		const line = await openCommandLine({ ...SETTINGS, "job.add": { outcome: "queued", job: blocked, position: null } });
		expect((await line.run("add --needs file:out/a.txt -- make")).err).toBe(
			"blocked: missing file:out/a.txt\n        --on-missing wait would wait for what it needs\n",
		);
	});

	test("a job that is held back is not called next", async () => {
		const held = { kind: "budget", detail: "owner:cy has used 0 of 0 runs" };
		const line = await openCommandLine({ ...SETTINGS, "job.add": { outcome: "queued", job: job(7, { held }), position: 1 } });
		expect(await line.run("add --owner cy -- true")).toMatchObject({ out: "7\n", err: "queued: owner:cy has used 0 of 0 runs\n" });
	});

	test("a missing folder is a warning, in JSON too; a repo's job has its own folder", async () => {
		const line = await openCommandLine(QUEUED);
		const said = `there is no folder ${join(line.home, "nowhere")} here: the job cannot start before there is one`;
		expect(await line.run("add --cwd nowhere -- true")).toMatchObject({
			code: 0,
			out: "7\n",
			err: expect.stringContaining(`warning: ${said}\n`),
		});
		expect(JSON.parse((await line.run("add --cwd nowhere --json -- true")).out)).toMatchObject({ outcome: "queued", warning: said });
		for (const text of ["add --cwd . -- true", "add --cwd nowhere --repo r -- true"])
			expect((await line.run(text)).err).not.toContain("warning");
	});

	test("a branch is pinned at its present commit in the named repo", async () => {
		const repo = makeRepository({ "a.txt": "a\n" });
		repo.git("branch", "side");
		const shown = ({ name }: { name?: unknown }) => ({ repo: { name, path: name === "far" ? null : repo.path } });
		const line = await openCommandLine({ ...QUEUED, "repo.show": shown as never });
		expect((await line.run("add --repo web --pin side -- true")).code).toBe(0);
		expect(line.asked.at(-1)?.params).toMatchObject({ repo: "web", pinned_head: { branch: "side", commit: repo.head("side") } });
		const [none, far] = [await line.run("add --repo web --pin no -- true"), await line.run("add --repo far --pin side -- true")];
		expect(none).toMatchObject({ code: 2, err: expect.stringContaining(`there is no branch "no" in ${repo.path}`) });
		expect(far).toMatchObject({ code: 2, err: expect.stringContaining("repo far has no folder here") });
	});

	test("every other option has its field", async () => {
		const line = await openCommandLine(QUEUED);
		const options =
			"--name n --title t --needs custom:a:b --on-missing wait --produces file:x --serial g --pin main@abcd1234 --if clean_worktree --parent 3 --parent-gate none --in 5m --deadline 2h --timeout 10m --stall-timeout 1m --owner o --account acc --uses build:2 --host gpu --repo r --base-branch b --no-merge --item I-1 --source s --phase p --trigger cron --batch B --unique k:replace --unique-for 1h --needs-approval --env A=1 --env LC_X --cwd sub --force";
		expect((await line.run(`add ${options} -- x`, { env: { PATH: "/bin", LC_X: "y", HOME: "/h" } })).code).toBe(0);
		expect(line.asked.at(-1)?.params).toEqual({
			command: ["x"],
			name: "n",
			title: "t",
			needs: ["custom:a:b"],
			on_missing: "wait",
			produces: ["file:x"],
			serial: "g",
			pinned_head: { branch: "main", commit: "abcd1234" },
			conditions: ["clean_worktree"],
			parent: 3,
			parent_gate: "none",
			runnable_at: "2030-01-31T12:05:00.000Z",
			deadline: "2030-01-31T14:00:00.000Z",
			timeout: "10m",
			stall_timeout: "1m",
			owner: "o",
			account: "acc",
			uses: { build: 2 },
			host_labels: ["gpu"],
			repo: "r",
			base_branch: "b",
			no_merge: true,
			item: "I-1",
			source: "s",
			phase: "p",
			trigger: "cron",
			batch: "B",
			unique: { key: "k", policy: "replace", window_ms: 3_600_000 },
			requires_approval: true,
			env: { PATH: "/bin", LC_X: "y", A: "1" },
			cwd: join(line.home, "sub"),
			force: true,
		});
	});

	test("an agent: its prompt as a word, from a file, from stdin", async () => {
		const line = await openCommandLine(QUEUED);
		writeFileSync(join(line.home, "p.md"), "from a file");
		const prompts = [];
		await line.run(["add", "--agent", "claude", "--model", "m", "--permission", "full", "--commit", "never", "do it"]);
		prompts.push(line.asked.at(-1)?.params);
		await line.run("add --agent claude --prompt-file p.md");
		prompts.push(line.asked.at(-1)?.params);
		await line.run("add --agent claude -", {
			stdin: (async function* () {
				yield "from ";
				yield Buffer.from("stdin");
			})(),
		});
		prompts.push(line.asked.at(-1)?.params);
		expect(prompts).toMatchObject([
			{ agent: "claude", model: "m", permission: "full", commit: "never", prompt: "do it" },
			{ agent: "claude", prompt: "from a file" },
			{ agent: "claude", prompt: "from stdin" },
		]);
	});

	test("a payload, written or from a file, carries no environment", async () => {
		const line = await openCommandLine(QUEUED);
		writeFileSync(join(line.home, "task.json"), '{"b": 2}');
		await line.run(["add", "--payload", '{"a": 1}']);
		expect(line.asked).toEqual([{ method: "job.add", params: { payload: { a: 1 } } }]);
		await line.run("add --payload @task.json");
		expect(line.asked.at(-1)?.params).toEqual({ payload: { b: 2 } });
	});

	test("inside a run the new job is a child", async () => {
		const line = await openCommandLine(QUEUED);
		const inside = { env: { PATH: "/bin", SLUICE_JOB_ID: "5", SLUICE_SOCKET: "/s", SLUICE_TOKEN: "t" }, insideOf: () => 5 };
		await line.run("add -- x", inside);
		expect(line.asked.at(-1)?.params).toMatchObject({ parent: 5, env: { PATH: "/bin" } });
		await line.run("add --parent none -- x", inside);
		expect(line.asked.at(-1)?.params).not.toHaveProperty("parent");
	});

	test.each([
		["add", "nothing to run"],
		["add --", "nothing stands after --"],
		["add --agent claude", "an agent needs a prompt"],
		["add --agent claude -- make", "a job has a command or an agent, not both"],
		["add hello", "is this a prompt or a command?"],
		["add hello -- make", "a command takes no prompt"],
		["add --agent a --prompt-file f hello", "PROMPT and --prompt-file contradict each other"],
		["add --agent a --prompt-file no-such-file", "--prompt-file: there is no file "],
		["add --model m -- make", "--model is for agents"],
		["add --payload {", "--payload is not JSON"],
		["add --payload 1 --cwd x", "a payload is for an outside worker"],
		["add --payload @no-such-file", "--payload: there is no file "],
		["add --in soon -- x", '--in: "soon" is not a duration'],
		["add --at soon -- x", '--at: "soon" is not a time'],
		["add --timeout 5 -- x", '--timeout: "5" is not a duration'],
		["add --uses build -- x", '--uses: "build" is not RESOURCE:N'],
		["add --env 1=2 -- x", '--env: "1" is not the name of a variable'],
		["add --env NOT_SET_HERE -- x", "--env: NOT_SET_HERE is not set here"],
		["add --retries -1 -- x", "--retries must not be negative"],
		["add --pin no-such-branch -- x", '--pin: there is no branch "no-such-branch"'],
	])("%s", async (text, said) => {
		const line = await openCommandLine(QUEUED);
		const result = await line.run(text);
		expect(result).toMatchObject({ code: 2, out: "" });
		expect(result.err).toContain(said);
		expect(line.asked).toEqual([]);
	});

	test("a refusal has its own message and exit code", async () => {
		const full = await openCommandLine({
			...SETTINGS,
			"job.add": { outcome: "deferred", limit: 16, depths: {}, hint: "wait for runs to end" },
		});
		expect(await full.run("add -- x")).toEqual({
			code: 75,
			out: "",
			err: "sluice: not added: the queue is full (limit 16)\n        wait for runs to end\n",
		});
		const twin = await openCommandLine({ ...SETTINGS, "job.add": { outcome: "duplicate", job: 4 } });
		expect(await twin.run("add -- x")).toEqual({ code: 0, out: "4\n", err: "not added: a job with this unique key is there already\n" });
		const busy = await openCommandLine({ ...SETTINGS, "job.add": { outcome: "already_running", job: 4, holder: 4 } });
		expect(await busy.run("add -- x")).toEqual({ code: 0, out: "4\n", err: "not added: job 4 works on this item already\n" });
	});

	test("--json prints the document as it comes, --quiet only the number", async () => {
		const line = await openCommandLine(QUEUED);
		const { out, err } = await line.run("add --json -- x");
		expect([JSON.parse(out), err]).toEqual([{ schema_version: 1, outcome: "queued", job: job(7), position: 2 }, ""]);
		expect(await line.run("add -q -- x")).toEqual({ code: 0, out: "7\n", err: "" });
	});

	test("--follow shows the output and exits as the job did", async () => {
		const line = await openCommandLine({
			...QUEUED,
			"job.logs": ({ offset }) =>
				offset === 0
					? { run: "7.1", text: "hello\n", next_offset: 6, eof: true, ended: false }
					: { run: "7.1", text: "", next_offset: 6, eof: true, ended: true },
			"job.show": { job: job(7, { status: "failed" }) },
			"job.wait": { done: true, jobs: [{ id: 7, status: "failed", exit_code: 3, exit_kind: "failed" }] },
		});
		const result = await line.run("add --follow -q -- x");
		expect(result).toEqual({ code: 1, out: "7\nhello\n", err: "" });
	});
});
