// The daemon as a real process: jobs over its socket, kill -9, restart, live settings, and everything that a dead one leaves behind.

import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";

const add = async (client: Client, home: TestHome, script: string, more: Record<string, unknown> = {}): Promise<number> => {
	const result = await client.call("job.add", { command: ["/bin/sh", "-c", script], cwd: home.path, ...more });
	if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
	return (result.job as { id: number }).id;
};
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const ended = (client: Client, id: number) =>
	until(async () => {
		const job = await show(client, id);
		return job.status === "queued" || job.status === "running" ? undefined : job;
	});
const lines = (path: string) => (existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []);

describe("a daemon", () => {
	test("runs jobs, shows them, and goes when it is told to", async () => {
		const home = new TestHome();
		const { child, client } = await home.up();
		const jobs = await Promise.all(Array.from({ length: 12 }, (_, n) => add(client, home, `echo job ${n}; exit ${n === 5 ? 3 : 0}`)));
		const all = await Promise.all(jobs.map((id) => ended(client, id)));
		expect(all.map((job) => job.status)).toEqual(jobs.map((_, n) => (n === 5 ? "failed" : "succeeded")));
		expect((await client.call("job.logs", { id: jobs[3] as number })).text).toBe("job 3\n");
		expect([statSync(home.path).mode & 0o777, statSync(home.socket).mode & 0o777]).toEqual([0o700, 0o600]);
		expect(JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8"))).toMatchObject({ pid: child.pid, port: expect.any(Number) });
		await client.call("scheduler.down", {});
		await home.gone(child);
		expect([child.exitCode, existsSync(home.socket), existsSync(join(home.path, "daemon.json"))]).toEqual([0, false, false]);
	});

	test("killed with a running job: the job goes on, and the next daemon ends it exactly once", async () => {
		const home = new TestHome();
		const first = await home.up();
		const proof = join(home.path, "proof");
		const job = await add(first.client, home, `echo begin >> ${proof}; while [ ! -e go ]; do sleep 0.01; done; echo end >> ${proof}`);
		const quick = await add(first.client, home, `while [ ! -e early ]; do sleep 0.01; done; echo quick >> ${proof}`);
		await until(() => lines(proof).length >= 1);
		await until(async () => (await show(first.client, quick)).status === "running");
		await home.kill(first.child);
		writeFileSync(join(home.path, "early"), "");
		await until(() => lines(proof).includes("quick"));
		const second = await home.up();
		expect((await ended(second.client, quick)).status).toBe("succeeded");
		expect((await show(second.client, job)).status).toBe("running");
		writeFileSync(join(home.path, "go"), "");
		expect(await ended(second.client, job)).toMatchObject({ status: "succeeded", attempt: 1 });
		expect(lines(proof)).toEqual(["begin", "quick", "end"]);
		const { events } = await second.client.call("job.history", { id: job });
		expect(events.filter((event) => event.kind === "ended")).toHaveLength(1);
		await until(() => home.leftovers().length === 0);
	});

	test("starts nothing before it knows what became of the runs of the last one", async () => {
		const home = new TestHome();
		home.make("max_concurrent: 1\n");
		const first = await home.up();
		const live = await add(first.client, home, "touch begun; while [ ! -e go ]; do sleep 0.01; done");
		const next = await add(first.client, home, "true");
		const last = await add(first.client, home, "true");
		await until(() => existsSync(join(home.path, "begun")));
		await home.kill(first.child);
		// The run that it left has the only slot, and keeps it.
		const second = await home.up();
		expect((await second.client.call("scheduler.status", {})).running).toBe(1);
		expect([(await show(second.client, live)).status, (await show(second.client, next)).status]).toEqual(["running", "queued"]);
		await home.kill(second.child);
		writeFileSync(join(home.path, "go"), "");
		const third = await home.up();
		await ended(third.client, last);
		const moment = async (id: number, kind: string) =>
			(await third.client.call("job.history", { id })).events.find((event) => event.kind === kind)?.seq as number;
		expect(await moment(next, "started")).toBeGreaterThan(await moment(live, "ended"));
		expect(await moment(last, "started")).toBeGreaterThan(await moment(next, "ended"));
		expect(await show(third.client, live)).toMatchObject({ status: "succeeded", attempt: 1 });
	});

	test("down leaves runs to their shims, and the next one adopts them", async () => {
		const home = new TestHome();
		const first = await home.up();
		const job = await add(first.client, home, "while [ ! -e go ]; do sleep 0.01; done");
		await until(async () => (await show(first.client, job)).status === "running");
		await until(() => home.leftovers().length > 0);
		await first.client.call("scheduler.down", { grace_ms: 0 });
		await home.gone(first.child);
		const second = await home.up();
		expect((await show(second.client, job)).status).toBe("running");
		writeFileSync(join(home.path, "go"), "");
		expect(await ended(second.client, job)).toMatchObject({ status: "succeeded", attempt: 1 });
	});

	test("down --stop-runs stops them, and they are run again without burning a retry", async () => {
		const home = new TestHome();
		const first = await home.up();
		const job = await add(first.client, home, "[ -e go ] && exit 0; sleep 600");
		await until(() => home.leftovers().length > 0);
		await first.client.call("scheduler.down", { stop_runs: true, grace_ms: 0 });
		await home.gone(first.child);
		expect(home.leftovers()).toEqual([]);
		writeFileSync(join(home.path, "go"), "");
		const second = await home.up();
		expect((await ended(second.client, job)).status).toBe("succeeded");
	});

	test("SIGTERM is a clean stop", async () => {
		const home = new TestHome();
		const { child } = await home.up();
		child.kill("SIGTERM");
		await home.gone(child);
		expect([child.exitCode, home.log().includes("stopped")]).toEqual([0, true]);
	});

	test("gets no variables of the run that it was started from, and passes none on", async () => {
		const home = new TestHome();
		const { client } = await home.up({ SLUICE_TOKEN: "foreign", SLUICE_JOB_ID: "99", SLUICE_MAX_CONCURRENT: "7", API_KEY: "k" });
		const job = await add(client, home, 'echo "$SLUICE_JOB_ID $SLUICE_ATTEMPT $API_KEY."; [ "$SLUICE_TOKEN" != foreign ]');
		expect((await ended(client, job)).status).toBe("succeeded");
		expect((await client.call("job.logs", { id: job })).text).toBe(`${job} 1 .\n`);
		expect((await client.call("scheduler.status", {})).max_concurrent).toBe(7);
	});
});

describe("settings", () => {
	test("a raised cap starts jobs at once; the file, the hangup and a bad file", async () => {
		const home = new TestHome();
		mkdirSync(home.path, { mode: 0o700 });
		const file = join(home.path, "config.yml");
		writeFileSync(file, "# mine\nmax_concurrent: 1\npoll_interval: 1h\n");
		const { child, client } = await home.up();
		const jobs = await Promise.all([1, 2, 3].map(() => add(client, home, "while [ ! -e go ]; do sleep 0.01; done")));
		const running = async () => (await client.call("scheduler.status", {})).running;
		await until(async () => (await running()) === 1);
		const { settings } = await client.call("config.set", { key: "max_concurrent", value: "2" });
		expect(settings).toEqual([{ key: "max_concurrent", value: 2, origin: "config.yml:2:1" }]);
		await until(async () => (await running()) === 2);
		expect(readFileSync(file, "utf8")).toBe("# mine\nmax_concurrent: 2\npoll_interval: 1h\n");
		/** In one go, as editors do it: the daemon may look at any moment. */
		const put = (text: string) => {
			writeFileSync(`${file}.new`, text);
			renameSync(`${file}.new`, file);
		};
		put("max_concurrent: 3\nlame: 1\n");
		child.kill("SIGHUP");
		await until(() => home.log().includes("lame: there is no such key"));
		expect(await running()).toBe(2);
		expect((await client.call("config.check", {})).ok).toBe(false);
		expect((await client.call("scheduler.status", {})).config_problem).toBe("config.yml:2:1: lame: there is no such key");
		put("max_concurrent: 3\n");
		await until(async () => (await running()) === 3);
		writeFileSync(join(home.path, "go"), "");
		await Promise.all(jobs.map((id) => ended(client, id)));
	});

	test("a file that is wrong at the start: one clear message, exit code 2", async () => {
		const home = new TestHome();
		mkdirSync(home.path, { mode: 0o700 });
		writeFileSync(join(home.path, "config.yml"), "max_concurrent: 1\nlains: {}\n");
		const child = home.spawn();
		await home.gone(child);
		expect([child.exitCode, child.said()]).toEqual([
			2,
			'sluice: config.yml:2:1: lains: there is no such key\n        did you mean "lanes"?\n',
		]);
	});
});

describe("what a dead daemon leaves behind is no obstacle", () => {
	test("a stale socket, a stale record, a half-written log line", async () => {
		const home = new TestHome();
		const first = await home.up();
		await home.kill(first.child);
		expect(existsSync(home.socket)).toBe(true);
		appendFileSync(join(home.path, "daemon.log"), "half a li");
		const { client, child } = await home.up();
		expect((await client.call("scheduler.version", {})).pid).toBe(child.pid);
	});

	test("but a daemon that lives is: the second says who it is, and exits with 4", async () => {
		const home = new TestHome();
		const first = await home.up();
		await until(() => existsSync(join(home.path, "daemon.json")));
		const second = home.spawn();
		await home.gone(second);
		expect([second.exitCode, second.said()]).toEqual([4, expect.stringContaining(`already (pid ${first.child.pid}, version`)]);
		expect((await first.client.call("scheduler.version", {})).pid).toBe(first.child.pid);
	});

	test("a port that is taken costs only HTTP", async () => {
		const home = new TestHome();
		const server = createServer();
		await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
		const { port } = server.address() as { port: number };
		mkdirSync(home.path, { mode: 0o700 });
		const { client } = await home.up({ SLUICE_PORT: String(port) });
		expect((await client.call("scheduler.version", {})).protocol).toBe(1);
		server.close();
	});
});

test("a daemon that kills itself at each step of a run loses nothing", async () => {
	for (const step of ["claimed", "folder-made", "launched", "started", "exit-seen", "outcome-written", "completed"]) {
		const home = new TestHome();
		const first = await home.up({ SLUICE_CHAOS_STEP: step });
		const proof = join(home.path, "proof");
		// Only runs that last are seen to start: this one lasts until the daemon is gone.
		const lasts = step === "started" ? `; while kill -0 ${first.child.pid}; do sleep 0.05; done` : "";
		const job = await add(first.client, home, `echo once >> ${proof}${lasts}`).catch(() => 1);
		await home.gone(first.child);
		expect([step, first.child.signalCode]).toEqual([step, "SIGKILL"]);
		const { client } = await home.up();
		expect([step, await ended(client, job)]).toMatchObject([step, { status: "succeeded", attempt: 1 }]);
		expect([step, ...lines(proof)]).toEqual([step, "once"]);
	}
});
