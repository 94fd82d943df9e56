// Two daemons on one store: what is asked of one reaches the runs of the other, and what these have written is read from everywhere.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { Player } from "../make/agents/player.ts";
import { until } from "../make/daemons/daemon.ts";
import { hosts, type TestHost } from "../make/daemons/host.ts";
import { makeFolder } from "../make/folder.ts";
import { isLong } from "../make/long.ts";
import { makeRepository } from "../make/repository.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";

const add = async (client: Client, job: Record<string, unknown>): Promise<number> => {
	const { job: added } = (await client.call("job.add", job)) as { job: { id: number } };
	return added.id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const CONFIG = "stop: {grace_int: 100ms, grace_term: 300ms}\n";
type Host = TestHost & { client: Client };
const sh = (script: string) => ({ command: ["/bin/sh", "-c", script] });
const WAIT = 25_000;

/** The host that has the job's run, and the other one. */
async function split({ a, b }: { a: Host; b: Host }, id: number): Promise<{ owner: Host; other: Host; at: string }> {
	const host = await until(async () => {
		const { run, last_run } = await show(a.client, id);
		return run?.host ?? last_run?.host;
	});
	return host === "a" ? { owner: a, other: b, at: "a" } : { owner: b, other: a, at: "b" };
}
const ended = (client: Client, id: number) => client.call("job.wait", { ids: [id], timeout_ms: WAIT });

let server: Server | undefined;
afterAll(() => server?.end());
const STORES: [string, () => Promise<string>][] = [
	["SQLite", async () => join(makeFolder(), "shared.db")],
	[
		"PostgreSQL",
		async () => {
			server ??= await startServer();
			return server.makeDatabase();
		},
	],
];

describe.each(isLong ? STORES : STORES.slice(1))("a run on another host, on %s", (_, makeStore) => {
	test("is cancelled from here", async () => {
		const both = await hosts({ a: CONFIG, b: CONFIG }, await makeStore());
		const id = await add(both.a.client, { command: ["sleep", "600"] });
		const { other } = await split(both, id);
		await other.client.call("job.cancel", { id });
		expect((await ended(other.client, id)).jobs[0]).toMatchObject({ status: "cancelled", exit_code: 143 });
	});

	test("its log is read while it grows, and to its end", async () => {
		const both = await hosts({ a: CONFIG, b: CONFIG }, await makeStore());
		const flag = join(makeFolder(), "go");
		const id = await add(both.a.client, sh(`echo first; while ! test -e ${flag}; do sleep 0.05; done; echo second; echo oops >&2`));
		const { other, at } = await split(both, id);
		const first = await other.client.call("job.logs", { id, wait_ms: WAIT });
		expect(first).toMatchObject({ run: `${id}.1`, text: "first\n", next_offset: 6, ended: false, host: at });
		// Asked before there is anything to read: it comes when it is there.
		const second = other.client.call("job.logs", { id, offset: 6, wait_ms: WAIT });
		writeFileSync(flag, "");
		expect((await second).text).toMatch(/^second\n(?:oops\n)?$/);
		await ended(other.client, id);
		const last = await until(async () => {
			const piece = await other.client.call("job.logs", { id, offset: 18 });
			return piece.ended ? piece : undefined;
		});
		expect(last).toMatchObject({ text: "", eof: true, ended: true });
		expect(await other.client.call("job.logs", { id, stream: "stderr" })).toMatchObject({ text: "oops\n", host: at });
		const said = await other.run(["logs", String(id)]);
		expect([said.code, said.out]).toEqual([0, "first\nsecond\noops\n"]);
		const followed = await other.run(["logs", "-f", String(id)]);
		expect([followed.code, followed.out]).toEqual([0, "first\nsecond\noops\n"]);
		expect((await other.run(["logs", "-n", "1", String(id)])).out).toBe("oops\n");
	});

	test("what it has written is there when its host is not, as far as it was kept", async () => {
		const config = `${CONFIG}logs: {shared_kb: 1}\n`;
		const both = await hosts({ a: config, b: config }, await makeStore());
		const id = await add(both.a.client, sh("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"));
		const { owner, other, at } = await split(both, id);
		await ended(other.client, id);
		const whole = readFileSync(join(owner.path, "runs", String(id), "1", "stdout.log"), "utf8");
		// Its host answers: all of it.
		expect((await other.run(["logs", String(id)])).out).toBe(whole);
		await until(async () => (await other.client.call("job.logs", { id, offset: -100 })).host === at);
		await owner.kill(owner.daemons[0] as NonNullable<(typeof owner.daemons)[0]>);
		const said = await other.run(["logs", String(id)]);
		expect(said.code).toBe(0);
		expect(said.out).toBe(whole.slice(0, 65_536) + whole.slice(-1024));
		expect(said.err).toContain(`bytes are left out: they are only on host ${at}`);
	});
});

describe("a run on another host", () => {
	test("a crash between its end and its keeping is made up for by the next daemon", async () => {
		const both = await hosts({ a: CONFIG, b: CONFIG });
		const id = await add(both.a.client, sh("echo said"));
		const { owner, other } = await split(both, id);
		await ended(other.client, id);
		await owner.kill(owner.daemons[0] as NonNullable<(typeof owner.daemons)[0]>);
		const { openDatabase } = await import("../../src/stores/sqlite/driver.ts");
		const database = openDatabase(owner.store);
		database.exec("DELETE FROM record WHERE kind = 'output'");
		database.close();
		const next = await owner.up();
		await until(async () => {
			const piece = await other.client.call("job.logs", { id }).catch(() => null);
			return piece?.text === "said\n";
		});
		await next.client.call("scheduler.down", {});
		await owner.gone(next.child);
		expect((await other.client.call("job.logs", { id })).text).toBe("said\n");
	});

	test("its worktree, its diff and its account are known here", async () => {
		const repo = makeRepository();
		const config = `${CONFIG}repos: {r: {url: ${JSON.stringify(repo.path)}, merge: local}}\n`;
		const both = await hosts({ a: config, b: config });
		const flag = join(makeFolder(), "go");
		const id = await add(both.a.client, { ...sh(`echo new > new.txt; while ! test -e ${flag}; do sleep 0.05; done; exit 3`), repo: "r" });
		const { owner, other, at } = await split(both, id);
		const path = join(owner.path, "worktrees", "r", String(id));
		await until(() => existsSync(join(path, "new.txt")));
		expect(await other.client.call("job.open", { id })).toMatchObject({
			host: at,
			path,
			branch: expect.stringMatching(/^sluice\//),
			there: true,
		});
		expect((await other.client.call("job.diff", { id })).patch).toContain("+new");
		writeFileSync(flag, "");
		await ended(other.client, id);
		expect((await until(() => other.client.call("job.outcome", { id }).catch(() => null))).outcome).toMatchObject({
			exit_kind: "failed",
			exit_code: 3,
		});
		await owner.client.call("scheduler.prune", {});
		expect(await other.client.call("job.open", { id })).toMatchObject({ host: at, path, there: false });
		const account = await other.run(["show", String(id), "--outcome"]);
		expect([account.code, account.out]).toEqual([0, expect.stringMatching(/exit kind +failed[\s\S]*host +[ab]\n/)]);
		await owner.kill(owner.daemons[0] as NonNullable<(typeof owner.daemons)[0]>);
		expect((await other.client.call("job.diff", { id })).patch).toContain("+new");
		expect(await other.client.call("job.open", { id })).toMatchObject({ host: at, path, there: null });
	});

	test("is retried here when it is asked for here", async () => {
		const both = await hosts({ a: CONFIG, b: CONFIG });
		const flag = join(makeFolder(), "flag");
		const id = await add(both.a.client, sh(`test -e ${flag} && { echo again; exit; }; touch ${flag}; exit 1`));
		const { owner, other } = await split(both, id);
		await ended(other.client, id);
		await owner.client.call("config.set", { key: `hosts.${owner.name}.max`, value: 0 });
		await other.client.call("job.retry", { id });
		await until(async () => (await show(owner.client, id)).status === "succeeded");
		expect((await show(other.client, id)).last_run?.host).toBe(other.name);
		const [here, there] = await Promise.all([owner, other].map((host) => host.client.call("job.logs", { id, run: 2 })));
		expect([here?.text, there?.text]).toEqual(["again\n", "again\n"]);
		expect((await other.client.call("job.logs", { id, run: 1, stream: "stderr" })).run).toBe(`${id}.1`);
	});
});

test("a run is told of the one before it, though that was on another host", async () => {
	const both = await hosts({ a: CONFIG, b: CONFIG });
	const flag = join(makeFolder(), "flag");
	const told = '{ echo "$SLUICE_PRIOR_ATTEMPT $SLUICE_PRIOR_EXIT"; cat "$SLUICE_PRIOR_FILE"; exit; }';
	const id = await add(both.a.client, sh(`test -e ${flag} && ${told}; touch ${flag}; echo last words; exit 4`));
	const { owner, other } = await split(both, id);
	await ended(other.client, id);
	await until(() => other.client.call("job.outcome", { id }).catch(() => null));
	await owner.client.call("scheduler.down", {});
	await owner.gone(owner.daemons[0] as NonNullable<(typeof owner.daemons)[0]>);
	await other.client.call("job.rerun", { id });
	await until(async () => (await show(other.client, id)).status === "succeeded");
	const { text } = await other.client.call("job.logs", { id });
	expect(text).toMatch(/^1 failed\n/);
	expect(JSON.parse(text.slice(text.indexOf("{")))).toMatchObject({ attempt: 1, exit_code: 4, stdout_tail: "last words\n" });
	// It is not mistaken for a run of this host.
	expect(await other.client.call("job.outcome", { id, run: 1 })).toMatchObject({ host: owner.name });
	expect(await other.client.call("job.logs", { id, run: 1 })).toMatchObject({ host: owner.name, text: "last words\n" });
});

describe("an agent that asked on another host", () => {
	const QUESTION = /^it was not allowed to/;
	async function asked() {
		const player = new Player("claude").plays("claude-tool-denied").plays("claude-tool");
		const both = await hosts({ a: CONFIG, b: CONFIG }, undefined, { PATH: player.path });
		const id = await add(both.a.client, { agent: "claude", prompt: "the task", cwd: makeFolder() });
		const { question } = await until(async () => {
			const job = await show(both.a.client, id);
			return job.question === null ? undefined : job;
		});
		expect(question).toMatch(QUESTION);
		const [owner, other] = existsSync(join(both.a.path, "runs", String(id))) ? [both.a, both.b] : [both.b, both.a];
		return { player, id, owner, other };
	}

	test("is answered from here, and goes on there with its session", async () => {
		const { player, id, owner, other } = await asked();
		await other.client.call("job.answer", { id, text: "yes, do" });
		expect((await ended(other.client, id)).jobs[0]).toMatchObject({ status: "succeeded" });
		expect((await show(other.client, id)).last_run?.host).toBe(owner.name);
		expect(player.argv(2)).toEqual(expect.arrayContaining(["--resume", "a46c1682-db6b-4112-a746-a09dcd5b4627"]));
		expect(player.prompt(2)).toBe("yes, do");
	});

	test("goes on here, with a new session that is told of it, when that host has left", async () => {
		const { player, id, owner, other } = await asked();
		await owner.client.call("scheduler.down", {});
		await owner.gone(owner.daemons[0] as NonNullable<(typeof owner.daemons)[0]>);
		await other.client.call("job.answer", { id, text: "yes, do" });
		expect((await ended(other.client, id)).jobs[0]).toMatchObject({ status: "succeeded" });
		expect((await show(other.client, id)).last_run?.host).toBe(other.name);
		expect(player.argv(2)).not.toContain("--resume");
		const prompt = player.prompt(2);
		expect(prompt).toContain("the task");
		expect(prompt).toContain("not allowed");
		expect(prompt).toContain("yes, do");
	});
});

test("a home of its own keeps nothing of this", async () => {
	const { TestHome } = await import("../make/daemons/daemon.ts");
	const home = new TestHome();
	home.make();
	const { client } = await home.up();
	const id = await add(client, sh("echo alone"));
	await ended(client, id);
	expect((await client.call("job.logs", { id })).text).toBe("alone\n");
	const { openDatabase } = await import("../../src/stores/sqlite/driver.ts");
	const database = openDatabase(join(home.path, "sluice.db"));
	const kept = database.prepare("SELECT kind FROM record WHERE kind IN ('output', 'ask', 'reply')").all();
	database.close();
	expect(kept).toEqual([]);
});
