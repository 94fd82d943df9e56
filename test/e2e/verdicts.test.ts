// Runs that speak of themselves, on a real repository with a real daemon: a review that says no, a question in the middle, a result that the next step uses.
// The agents are shell scripts that call `sluice` as the PATH of their run has it, which is the built command.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { makeRepository } from "../make/repository.ts";

const TIMEOUT = { timeout: 120_000 };
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const ended = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		return ["queued", "waiting_on_deps", "waiting_on_locks", "running"].includes(job.status) ? undefined : job;
	});

/** A repo with a bead, and an agent for each step of implement-review-merge. */
async function pipeline(steps: { implement: string; review: string }) {
	const repo = makeRepository();
	const town = makeFolder();
	mkdirSync(join(town, ".beads"));
	writeFileSync(join(town, ".beads/issues.jsonl"), JSON.stringify({ id: "r-1", title: "Say hello", status: "open", issue_type: "task" }));
	const agent = `case "$1" in Implement*) ${steps.implement} ;; *) ${steps.review} ;; esac`;
	const home = new TestHome();
	home.make(
		JSON.stringify({
			repos: { r: { path: repo.path, prefix: "r-" } },
			sources: { beads: { kind: "beads", root: town } },
			agents: { claude: { command: ["/bin/sh", "-c", agent, "sh", "{prompt}"] } },
		}),
	);
	// No folder that `sluice` may be installed in: a run finds it all the same.
	const { client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1", PATH: "/usr/bin:/bin" });
	const said = await home.run(["sling", "implement-review-merge", "--on", "r-1", "--repo", "r", "--json"], {
		env: { PATH: "/usr/bin:/bin" },
	});
	expect(said).toMatchObject({ code: 0 });
	const { jobs } = JSON.parse(said.out) as { jobs: [number, number, number] };
	return { repo, home, client, jobs, folder: (job: number, attempt = 1) => join(home.path, "runs", String(job), String(attempt)) };
}

const WORK = 'echo hello > said.txt; git add .; git -c user.name=A -c user.email=a@x commit -qm "hello"';

test("a review that says no fails its step: the merge is blocked, and the base is as it was", TIMEOUT, async () => {
	const { repo, home, client, jobs, folder } = await pipeline({
		implement: `${WORK}; sluice result '{"summary": "said {{after.implement.result}} hello", "files": 1}'`,
		// It leaves something behind, which is not committed either.
		review: 'echo draft > draft.txt; sluice verdict fail "it deletes all users"; echo "This must not be merged."',
	});
	const [implement, review, merge] = jobs;
	const before = repo.git("rev-parse", "main");
	expect(await ended(client, merge)).toMatchObject({
		status: "blocked_by_dependency",
		end_reason: `dependency failed for job ${review} (failed)`,
	});
	expect(await show(client, implement)).toMatchObject({
		status: "succeeded",
		verdict: null,
		result: { summary: "said {{after.implement.result}} hello", files: 1 },
	});
	expect(await show(client, review)).toMatchObject({
		status: "failed",
		exit_kind: "failed",
		exit_code: 1,
		raw_exit_code: 0,
		attempt: 1,
		end_reason: "it deletes all users",
		verdict: { verdict: "fail", text: "it deletes all users" },
	});
	expect(repo.git("rev-parse", "main")).toBe(before);
	expect(repo.git("log", "--format=%s", "sluice/r-1").split("\n")[0]).toBe("hello");
	// What the step before reported is in its prompt, word for word.
	expect(readFileSync(join(folder(review), "prompt.md"), "utf8")).toContain(
		'reported: {"summary":"said {{after.implement.result}} hello","files":1}',
	);
	expect(JSON.parse(readFileSync(join(folder(review), "outcome.json"), "utf8"))).toMatchObject({
		exit_kind: "failed",
		exit_code: 0,
		message: "it deletes all users",
		verdict: { verdict: "fail" },
	});
	expect((await home.run(["why", String(merge)])).out).toContain("it deletes all users");
	expect((await home.run(["show", String(review)])).out).toMatch(/verdict +fail: it deletes all users/);
	expect((await home.run(["history", String(review)])).out).toMatch(new RegExp(`results handed +attempt 1, of jobs ${implement}`));
});

test("a question in the middle waits for its answer, and then all goes on to the merge", TIMEOUT, async () => {
	const { repo, home, client, jobs, folder } = await pipeline({
		implement: WORK,
		review: 'if test "$SLUICE_ATTEMPT" = 1; then sluice verdict ask "Is hello polite enough?"; else sluice verdict ok; fi',
	});
	const [implement, review, merge] = jobs;
	const asking = await until(async () => {
		const job = await show(client, review);
		return job.question === null ? undefined : job;
	});
	expect(asking).toMatchObject({ status: "queued", exit_kind: "needs_human", question: "Is hello polite enough?", failures: 0 });
	expect((await home.run(["status"])).out).toContain("asks: Is hello polite enough?");
	expect(readFileSync(join(folder(review), "prompt.md"), "utf8")).toMatch(/reported: \(job \S+ left no result\)/);
	expect((await client.call("job.why", { id: review })).results).toEqual([
		{ job: implement, name: expect.any(String), status: "succeeded", has_result: false },
	]);
	expect(JSON.parse(readFileSync(join(folder(review), "run.json"), "utf8")).results).toEqual([
		{ job: implement, name: expect.any(String), bytes: null },
	]);
	await client.call("job.answer", { id: review, text: "It is." });
	await until(async () => ((await show(client, merge)).merge_status === "merged" ? true : undefined));
	expect(await show(client, review)).toMatchObject({ status: "succeeded", verdict: { verdict: "ok" }, asked: "Is hello polite enough?" });
	expect(repo.read("said.txt")).toBe("hello\n");
});

test("what a run has said outlives a daemon that is killed", TIMEOUT, async () => {
	const home = new TestHome();
	const folder = makeFolder();
	const { child, client } = await home.up({ PATH: "/usr/bin:/bin" });
	const script = `sluice verdict fail "no" && sluice result '[1, 2]' && touch said; until test -e go; do sleep 0.05; done`;
	const added = await client.call("job.add", { command: ["sh", "-c", script], cwd: folder, name: "speaker" });
	await until(() => existsSync(join(folder, "said")));
	client.close();
	await home.kill(child);
	const { client: next } = await home.up({ PATH: "/usr/bin:/bin" });
	writeFileSync(join(folder, "go"), "");
	const { job } = added as { job: { id: number } };
	expect(await ended(next, job.id)).toMatchObject({ status: "failed", end_reason: "no", result: [1, 2], verdict: { verdict: "fail" } });
});

test("what is said while the daemon restarts waits for it", TIMEOUT, async () => {
	const home = new TestHome();
	const folder = makeFolder();
	const { child, client } = await home.up({ PATH: "/usr/bin:/bin" });
	const script = `touch there; until test -e speak; do sleep 0.05; done; sluice verdict fail "still no" 2> told; touch spoke`;
	const added = await client.call("job.add", { command: ["sh", "-c", script], cwd: folder });
	await until(() => existsSync(join(folder, "there")));
	client.close();
	await home.kill(child);
	writeFileSync(join(folder, "speak"), "");
	const { client: next } = await home.up({ PATH: "/usr/bin:/bin" });
	const { job } = added as { job: { id: number } };
	expect(await ended(next, job.id)).toMatchObject({ status: "failed", end_reason: "still no" });
	expect(readFileSync(join(folder, "told"), "utf8")).toBe(`job ${job.id} will end as failed\n`);
});

test("a no that is said while the daemon is away for long counts: nothing is merged", TIMEOUT, async () => {
	const repo = makeRepository();
	const before = repo.git("rev-parse", "main");
	const folder = makeFolder();
	const home = new TestHome();
	home.make(JSON.stringify({ repos: { r: { path: repo.path } }, retry: { max: 2, on: ["failed"] } }));
	const { child, client } = await home.up({ GIT_CONFIG_NOSYSTEM: "1", PATH: "/usr/bin:/bin" });
	const script = `${WORK}; touch ${folder}/there; until test -e ${folder}/speak; do sleep 0.05; done
sluice verdict fail "it deletes all users" 2> ${folder}/told; echo $? > ${folder}/code; sluice result '[1]' 2>> ${folder}/told; touch ${folder}/spoke`;
	const added = await client.call("job.add", { command: ["sh", "-c", script], repo: "r" });
	const { job } = added as { job: { id: number } };
	await until(() => existsSync(join(folder, "there")));
	client.close();
	await home.kill(child);
	writeFileSync(join(folder, "speak"), "");
	await until(() => existsSync(join(folder, "spoke")));
	expect(readFileSync(join(folder, "code"), "utf8")).toBe("0\n");
	expect(readFileSync(join(folder, "told"), "utf8")).toContain("is kept in the run's folder");
	const { client: next } = await home.up({ GIT_CONFIG_NOSYSTEM: "1", PATH: "/usr/bin:/bin" });
	expect(await ended(next, job.id)).toMatchObject({
		status: "failed",
		attempt: 1,
		end_reason: "it deletes all users",
		verdict: { verdict: "fail", text: "it deletes all users" },
		result: [1],
	});
	expect(repo.git("rev-parse", "main")).toBe(before);
	expect((await home.run(["history", String(job.id)])).out).toContain("it deletes all users");
});

test("outside of a run the commands say so; inside, what is no result is refused, and so is a wrong token", TIMEOUT, async () => {
	const home = new TestHome();
	const { client } = await home.up({ PATH: "/usr/bin:/bin" });
	expect(await home.run(["verdict", "fail", "no"])).toMatchObject({
		code: 2,
		err: expect.stringMatching(/works only inside a run[\s\S]*sluice answer ID TEXT[\s\S]*sluice cancel ID/),
	});
	expect(await home.run(["result", "{}"])).toMatchObject({ code: 2, err: expect.stringContaining("sluice show ID --json") });
	const script = `SLUICE_TOKEN=wrong sluice verdict fail no; echo $?; sluice result '{a: 1}'; echo $?; printf '"%070000d"' 7 | sluice result -; echo $?`;
	const added = await client.call("job.add", { command: ["sh", "-c", script], cwd: makeFolder() });
	const { job } = added as { job: { id: number } };
	expect(await ended(client, job.id)).toMatchObject({ status: "succeeded", verdict: null, result: null });
	const { text } = await client.call("job.logs", { id: job.id, stream: "stderr" });
	expect(text).toContain(`SLUICE_TOKEN is not the token of run ${job.id}.1, which is still running`);
	expect(text).toContain("the result is not JSON");
	expect(text).toContain("the limit is 65536 (64 KiB)");
	expect((await client.call("job.logs", { id: job.id, stream: "stdout" })).text).toBe("2\n2\n2\n");
});

test("a verdict counts whatever its text is: it begins with a dash, is empty, is very long", TIMEOUT, async () => {
	const home = new TestHome();
	const { client } = await home.up({ PATH: "/usr/bin:/bin" });
	const nest = (count: number, mark: string) => `head -c ${count} /dev/zero | tr '\\0' '${mark}'`;
	const cases = [
		['sluice verdict fail "- it deletes all users\n- no tests"', "- it deletes all users - no tests"],
		["sluice verdict fail --force", "--force"],
		["sluice verdict fail", "no reason given"],
		[`${nest(3_000_000, "x")} | sluice verdict fail -`, `${"x".repeat(299)}…`],
	] as const;
	for (const [script, reason] of cases) {
		const added = await client.call("job.add", { command: ["sh", "-c", `${script}; exit 0`], cwd: makeFolder() });
		const { job } = added as { job: { id: number } };
		expect(await ended(client, job.id)).toMatchObject({ status: "failed", end_reason: reason });
	}
	const script = `{ ${nest(30_000, "[")}; ${nest(30_000, "]")}; } | sluice result -`;
	const added = await client.call("job.add", { command: ["sh", "-c", script], cwd: makeFolder() });
	const { job } = added as { job: { id: number } };
	expect(await ended(client, job.id)).toMatchObject({ status: "failed", result: null });
	expect((await client.call("job.logs", { id: job.id, stream: "stderr" })).text).toContain("result: nested more than 64 deep");
});
