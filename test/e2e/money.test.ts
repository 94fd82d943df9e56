// Budgets with a real daemon and real processes: a runaway that is stopped by what it may spend, and a breach that stops what runs.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { orElse } from "../../src/core/errors.ts";
import { CAPTURES } from "../make/agents/capture.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";

/** As a script calls it. */
const SLUICE = `"${process.execPath}" "${TestHome.command()}"`;

test("an agent that succeeds and asks to go on for ever is stopped by its budget, which says so", async () => {
	const home = new TestHome();
	const folder = makeFolder();
	const told = join(folder, "notices");
	const script = join(folder, "agent.sh");
	writeFileSync(script, `${SLUICE} add --agent loop "go on" >/dev/null || exit 9\necho "$1, done; there is more to do"\n`);
	home.make(`agents:
  loop: {command: ["/bin/sh", ${script}, "{prompt}"]}
notify:
  - {kind: command, command: ["/bin/sh", "-c", 'echo "$SLUICE_TITLE: $SLUICE_TEXT" >> ${told}'], on: [budget]}
`);
	const { client } = await home.up();
	await client.call("budget.grant", { subject: "owner:ann", dim: "runs", limit: 4, warn_at: 0.5 });
	await client.call("job.add", { agent: "loop", prompt: "begin", owner: "ann" });

	const last = await until(async () => {
		const { jobs } = await client.call("job.list", { all: true });
		return jobs.length === 5 && jobs.slice(0, 4).every(({ status }) => status === "succeeded") ? jobs[4] : undefined;
	});
	// All of them were started by the first, and paid by its owner.
	expect(last).toMatchObject({ status: "queued", owner: "ann", depth: 4, attempt: 0 });
	const { reasons } = await client.call("job.why", { id: last.id });
	expect(reasons).toMatchObject([{ gate: "budget", code: "budget", detail: "owner:ann has used 4 of 4 runs" }]);
	expect((await home.run(["why", String(last.id)])).out).toContain("owner:ann has used 4 of 4 runs");
	expect((await home.run(["status"])).out).toContain("Budget: owner:ann has used 4 of 4 runs");
	expect((await home.run(["budget", "list"])).out).toMatch(/owner:ann +runs +4 +4 +100 %/);
	expect((await home.run(["budget", "report", "--per", "owner"])).out).toMatch(/ann +4 +4/);
	const notices = await until(() => {
		const lines = existsSync(told) ? readFileSync(told, "utf8").trimEnd().split("\n") : [];
		return lines.length === 2 ? lines.sort() : undefined;
	});
	expect(notices).toEqual(["owner:ann has used up its runs: 4 of 4", "owner:ann is near the end of its runs: 2 of 4"]);

	// Its owner may go on: one run, and no more.
	expect((await home.run(["budget", "grant", "owner:ann", "runs", "5"])).err).toBe("owner:ann has used 4 of 5 runs\n");
	await until(async () => (await client.call("job.list", { all: true })).jobs.length === 6);
	await until(async () => (await client.call("job.show", { id: last.id })).job.status === "succeeded");
	expect((await client.call("budget.list", {})).budgets).toMatchObject([{ used: 5, limit: 5, over_limit: true, reserved: 0 }]);
}, 60_000);

test("so is one by what it says it cost: not past the limit by more than the run in flight", async () => {
	const home = new TestHome();
	const folder = makeFolder();
	const script = join(folder, "agent.sh");
	writeFileSync(script, `${SLUICE} add --agent loop "go on" >/dev/null || exit 9\ncat '${join(CAPTURES, "claude-tool", "stdout")}'\n`);
	home.make(`agents:\n  loop: {command: ["/bin/sh", ${script}, "{prompt}"], output: claude}\n`);
	const { client } = await home.up();
	await client.call("budget.grant", { subject: "owner:ann", dim: "cost_micro", limit: 40_000, window: "day", reserve: 20_000 });
	await client.call("job.add", { agent: "loop", prompt: "begin", owner: "ann", batch: "night" });
	const last = await until(async () => {
		const { jobs } = await client.call("job.list", { all: true });
		return jobs.length === 4 && jobs.slice(0, 3).every(({ status }) => status === "succeeded") ? jobs[3] : undefined;
	});
	const { reasons } = await client.call("job.why", { id: last.id });
	expect(reasons).toMatchObject([{ code: "budget", detail: "owner:ann has used $0.0502 of $0.04", clears_at: expect.any(String) }]);
	expect((await home.run(["status"])).out).toContain("Budget: owner:ann has used $0.0502 of $0.04");
	expect((await home.run(["budget", "report"])).out).toMatch(/night +1 +1 +8449 +\$0\.0167/);
	expect(await client.call("budget.report", { per: "owner" })).toMatchObject({ costs: [{ name: "ann", jobs: 3, cost_micro: 50_175 }] });
	expect((await home.run(["show", "1"])).out).toMatch(/used +8449 tokens, \$0\.0167/);
}, 60_000);

test("a run cannot have somebody else pay", async () => {
	const home = new TestHome();
	home.make();
	const { client } = await home.up();
	const id = 1;
	await client.call("job.add", { command: ["/bin/sh", "-c", `${SLUICE} add --owner bob -- true`], owner: "ann" });
	await client.call("job.wait", { ids: [id] });
	expect((await client.call("job.show", { id })).job).toMatchObject({ status: "failed", exit_code: 2 });
	expect((await home.run(["logs", String(id), "--stderr"])).out).toContain("is paid by its own owner ann, not by bob");
	expect((await client.call("job.list", { all: true })).jobs).toHaveLength(1);
}, 60_000);

test("on_breach: stop ends what runs at its expense, with all that it started, and nothing else", async () => {
	const home = new TestHome();
	home.make();
	const { client } = await home.up();
	const sleeps = { command: ["/bin/sh", "-c", "sleep 1000 & echo on; wait"] };
	await client.call("budget.grant", { subject: "owner:ann", dim: "cost_micro", limit: 1_000_000, on_breach: "stop" });
	await client.call("job.apply", {
		manifest: {
			jobs: [
				{ ...sleeps, owner: "ann" },
				{ ...sleeps, owner: "bob" },
				{ ...sleeps, owner: "ann" },
			],
		},
	});
	await until(async () => {
		const logs = await Promise.all([1, 2, 3].map((id) => client.call("job.logs", { id, wait_ms: 1000 })));
		return logs.every(({ text }) => text.includes("on"));
	});
	expect((await home.run(["budget", "report", "owner:ann", "cost_micro", "$1"])).err).toBe("owner:ann has used $1.00 of $1.00\n");
	await client.call("job.wait", { ids: [1, 3] });
	for (const id of [1, 3])
		expect((await client.call("job.show", { id })).job).toMatchObject({
			status: "cancelled",
			exit_kind: "cancelled",
			exit_code: 143,
			end_reason: "budget: cost_micro of owner:ann is used up",
		});
	expect((await client.call("job.show", { id: 2 })).job.status).toBe("running");
	// The shell of the other one and its sleep, and the shim that watches it.
	// A process of the others may go while it is looked at.
	const read = (pid: number, file: string) => orElse(() => readFileSync(`/proc/${pid}/${file}`, "utf8"), "");
	const left = home
		.leftovers()
		.map((pid) => ({ command: read(pid, "cmdline"), job: /SLUICE_MARK=\w+-(\d+)\.1/.exec(read(pid, "environ"))?.[1] }))
		.filter(({ job }) => job !== undefined);
	expect(left.some(({ command }) => command.replaceAll("\0", " ").includes("sleep 1000"))).toBe(true);
	expect(new Set(left.map(({ job }) => job))).toEqual(new Set(["2"]));
	await client.call("job.cancel", { id: 2 });
	await client.call("job.wait", { ids: [2] });
}, 60_000);
