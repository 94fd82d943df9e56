// Several daemons, each with a home of its own, on one store: who gets what, what a dead or paused one loses, and that no attempt runs beside the next.

import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { TestHome, until } from "../make/daemons/daemon.ts";
import { makeFolder } from "../make/folder.ts";
import { findProcesses, watchersOf } from "../make/processes.ts";

const QUICK = "poll_interval: 100ms\nretry: {max: 3, base_ms: 10, on: [lost]}\nstop: {grace_int: 100ms, grace_term: 300ms}\n";

type Started = Awaited<ReturnType<TestHome["up"]>> & { home: TestHome };

function makeFleet(staleAfter = "3s") {
	const folder = makeFolder();
	const store = join(folder, "fleet.db");
	return {
		folder,
		store,
		async up(name: string, more: string = "", home = new TestHome(join(folder, name))): Promise<Started> {
			if (!existsSync(home.path)) home.make(`stale_after: ${staleAfter}\n${QUICK}host: {name: ${name}, labels: [on-${name}]}\n${more}`);
			return { home, ...(await home.up({ SLUICE_STORE: store })) };
		},
	};
}
const add = async (client: Client, command: string[], more: Record<string, unknown> = {}): Promise<number> =>
	((await client.call("job.add", { command, ...more })) as { job: { id: number } }).job.id;
const show = async (client: Client, id: number) => (await client.call("job.show", { id })).job;
const reaches = (client: Client, id: number, ...wanted: string[]) =>
	until(async () => {
		const job = await show(client, id);
		return wanted.includes(job.status) ? job : undefined;
	});
const ended = (client: Client, id: number) => reaches(client, id, "succeeded", "failed", "cancelled");
const stateOf = async (client: Client, name: string) => (await client.call("host.list", {})).hosts.find((one) => one.name === name)?.state;
const isAlive = (pid: number): boolean => {
	try {
		return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return false;
	}
};

const guardsOf = (home: TestHome): number[] =>
	findProcesses((words) => words.some((word) => word.endsWith("/lease-guard.js")) && words.includes(join(home.path, "lease")));
/** Kills the daemon and its guard. The daemon first: it would start another guard. */
async function killWithGuard({ home, child }: Started): Promise<void> {
	const guards = guardsOf(home);
	expect(guards.length).toBe(1);
	await home.kill(child);
	for (const pid of guards) process.kill(pid, "SIGKILL");
}

/** Its first attempt never ends by itself; each later one says whether the first was still alive when it began. */
const PROOF = `if [ ! -e "$1" ]; then echo $$ >"$1.new"; mv "$1.new" "$1"; sleep 600 & wait; fi
read -r first <"$1"; if kill -0 "$first" 2>/dev/null; then echo both; else echo alone; fi >"$1.later"`;

test("killed and started by the next command, a home is the host that it was, and has its run back", async () => {
	const fleet = makeFleet("60s");
	const other = await fleet.up("b");
	const home = new TestHome(join(fleet.folder, "mill"));
	home.make(QUICK);
	const env = { SLUICE_STORE: fleet.store };
	// The built program starts the built daemon.
	const program = join(import.meta.dirname, "../../bin/sluice.js");
	const sluice = async (...args: string[]) => {
		const said = await home.run(args, { env, program });
		expect([args.join(" "), said.code, said.err]).toEqual([args.join(" "), 0, expect.anything()]);
		return said.out;
	};
	const ends: number[] = [];
	onTestFinished(() => {
		for (const pid of ends.filter(isAlive)) process.kill(pid, "SIGKILL");
	});
	const pidNow = () => {
		const { pid } = JSON.parse(readFileSync(join(home.path, "daemon.json"), "utf8")) as { pid: number };
		ends.push(pid);
		return pid;
	};
	await sluice("up", "--detach", "--name", "mill-a", "--label", "gpu");
	const go = join(home.path, "go");
	const job = await add(other.client, ["sh", "-c", `while ! [ -e "${go}" ]; do sleep 0.05; done`], { host_labels: ["gpu"] });
	await reaches(other.client, job, "running");
	process.kill(pidNow(), "SIGKILL");
	await sluice("list");
	pidNow();
	writeFileSync(go, "");
	expect(await ended(other.client, job)).toMatchObject({ status: "succeeded", attempt: 1, last_run: { host: "mill-a" } });
	const hosts = (await other.client.call("host.list", {})).hosts;
	expect(hosts.map(({ name, labels }) => [name, labels])).toEqual([
		["b", ["on-b"]],
		["mill-a", ["gpu"]],
	]);
	await sluice("down");
});

test("who follows a log of a host that has died is told so", async () => {
	const fleet = makeFleet("60s");
	const [a, b] = [await fleet.up("a"), await fleet.up("b")];
	const job = await add(b.client, ["sh", "-c", "sleep 600 & wait"], { host_labels: ["on-a"] });
	await reaches(b.client, job, "running");
	await a.home.kill(a.child);
	const piece = await b.client.call("job.logs", { id: job, wait_ms: 3000 });
	expect(piece).toMatchObject({ text: "", ended: false, next_offset: 0, note: "it is on host a, which does not answer" });
	expect(await b.client.call("job.logs", { id: job, offset: 7, wait_ms: 1 })).toMatchObject({ next_offset: 7 });
	const again = await a.home.up({ SLUICE_STORE: fleet.store });
	await again.client.call("job.cancel", { id: job });
	await ended(again.client, job);
});

describe("two daemons on one store", () => {
	test("labels say where, both are seen from both, and a stop asked for at one reaches the other", async () => {
		const fleet = makeFleet();
		const [a, b] = [await fleet.up("a"), await fleet.up("b")];
		const jobs = await Promise.all(["on-a", "on-b"].map((label) => add(a.client, ["true"], { host_labels: [label] })));
		const hosts = await Promise.all(jobs.map(async (id) => (await ended(b.client, id)).last_run?.host));
		expect(hosts).toEqual(["a", "b"]);
		expect((await b.client.call("scheduler.status", {})).hosts.map(({ name, state, labels }) => [name, state, labels])).toEqual([
			["a", "live", ["on-a"]],
			["b", "live", ["on-b"]],
		]);
		await expect(add(a.client, ["true"], { host_labels: ["on-c"] })).rejects.toThrow(/no host has label on-c/);

		const long = await add(a.client, ["sleep", "600"], { host_labels: ["on-b"] });
		await reaches(a.client, long, "running");
		await a.client.call("job.cancel", { ids: [long] });
		expect(await ended(a.client, long)).toMatchObject({ status: "cancelled" });
		expect(b.home.leftovers()).toEqual([]);
	});

	test("settings are the store's: a cap that is raised at one starts jobs at the other", async () => {
		const fleet = makeFleet("60s");
		const a = await fleet.up("a", "max_concurrent: 1\n");
		const b = await fleet.up("b", "max_concurrent: 7\n");
		expect((await b.client.call("config.get", { key: "max_concurrent" })).settings).toEqual([
			{ key: "max_concurrent", value: 1, origin: "store" },
		]);
		expect(b.home.log()).toMatch(/do not count.*max_concurrent/);
		expect(a.home.log()).not.toMatch(/do not count/);
		const first = await add(a.client, ["sleep", "600"], { host_labels: ["on-a"] });
		await reaches(a.client, first, "running");
		const second = await add(a.client, ["true"], { host_labels: ["on-b"] });
		expect((await show(b.client, second)).status).toBe("queued");
		await a.client.call("config.set", { key: "max_concurrent", value: "2" });
		expect(await ended(a.client, second)).toMatchObject({ status: "succeeded", last_run: { host: "b" } });
	}, 30_000);

	test("the second that wants a name is refused, with a word of what to do", async () => {
		const fleet = makeFleet();
		await fleet.up("a");
		const other = new TestHome(join(fleet.folder, "other"));
		other.make(`${QUICK}host: {name: a}\n`);
		const child = other.spawn({ SLUICE_STORE: fleet.store });
		await other.gone(child);
		expect(child.exitCode).toBe(4);
		expect(child.said()).toMatch(/the host name "a" is held by the daemon of another home[\s\S]*sluice up --name/);
	});

	test("drained, a host starts nothing; down, it leaves", async () => {
		const fleet = makeFleet();
		const [a, b] = [await fleet.up("a"), await fleet.up("b")];
		await b.client.call("host.drain", { name: "a" });
		const job = await add(a.client, ["true"], { host_labels: ["on-a"] });
		const { reasons } = await b.client.call("job.why", { id: job });
		expect(reasons[0]).toMatchObject({ code: "no_host", detail: expect.stringContaining("a is draining") });
		await a.client.call("host.undrain", { name: "a" });
		await ended(b.client, job);
		await a.client.call("scheduler.down", {});
		await a.home.gone(a.child);
		expect(await stateOf(b.client, "a")).toBe("gone");
		expect(existsSync(join(a.home.path, "lease"))).toBe(false);
	});

	test.each(["alone", "with its guard"])(
		"killed %s and started again within its lease, a host keeps its runs",
		async (how) => {
			const fleet = makeFleet("9s");
			const [a, b] = [await fleet.up("a"), await fleet.up("b")];
			const file = join(fleet.folder, "go-on");
			const job = await add(a.client, ["sh", "-c", `echo $$ >${file}.pid; until [ -e ${file} ]; do sleep 0.02; done`], {
				host_labels: ["on-a"],
			});
			await until(() => existsSync(`${file}.pid`));
			await (how === "alone" ? a.home.kill(a.child) : killWithGuard(a));
			const again = await fleet.up("a", "", a.home);
			// Longer than the lease that the killed one had: this one renews it.
			const [before] = (await b.client.call("host.list", {})).hosts;
			await until(async () => {
				const [now] = (await b.client.call("host.list", {})).hosts;
				return Date.parse(now?.heartbeat_at ?? "") > Date.parse(before?.lease_until ?? "");
			});
			expect((await show(b.client, job)).status).toBe("running");
			expect((await again.client.call("host.show", { name: "a" })).jobs.map(({ id }) => id)).toEqual([job]);
			writeFileSync(file, "");
			expect(await ended(b.client, job)).toMatchObject({ status: "succeeded", attempt: 1 });
			// The watcher of the first daemon's shim goes, too.
			await again.client.call("scheduler.down", {});
			await until(() => watchersOf(a.home.path).length === 0);
		},
		30_000,
	);

	test("paused beyond its lease: its runs end before others have them, and what it says afterwards does not count", async () => {
		const fleet = makeFleet();
		const [a, b] = [await fleet.up("a"), await fleet.up("b")];
		const proof = join(fleet.folder, "proof");
		await b.client.call("host.drain", { name: "b" });
		const job = await add(a.client, ["sh", "-c", PROOF, "sh", proof]);
		const first = await until(() => (existsSync(proof) ? Number(readFileSync(proof, "utf8")) : 0));
		await b.client.call("host.undrain", { name: "b" });
		a.child.kill("SIGSTOP");
		await until(() => !isAlive(first));
		expect(await stateOf(b.client, "a")).toBe("live");
		expect((await show(b.client, job)).status).toBe("running");

		expect(await ended(b.client, job)).toMatchObject({ status: "succeeded", attempt: 2, last_run: { host: "b" } });
		expect(readFileSync(`${proof}.later`, "utf8")).toBe("alone\n");
		expect(await stateOf(b.client, "a")).toBe("gone");
		a.child.kill("SIGCONT");
		await until(async () => (await stateOf(b.client, "a")) === "live");
		expect(await show(b.client, job)).toMatchObject({ status: "succeeded", attempt: 2 });
		await until(() => a.home.log().includes("its runs were given up"));
		expect(await ended(b.client, await add(b.client, ["true"], { host_labels: ["on-a"] }))).toMatchObject({ status: "succeeded" });
		await until(() => a.home.leftovers().length === 0);
	}, 30_000);

	test("killed for good: its guard ends its runs, then others have them", async () => {
		const fleet = makeFleet();
		const [a, b] = [await fleet.up("a"), await fleet.up("b")];
		const proof = join(fleet.folder, "proof");
		await b.client.call("host.drain", { name: "b" });
		const job = await add(a.client, ["sh", "-c", PROOF, "sh", proof]);
		await until(() => existsSync(proof));
		await b.client.call("host.undrain", { name: "b" });
		await a.home.kill(a.child);
		expect(await ended(b.client, job)).toMatchObject({ status: "succeeded", attempt: 2, last_run: { host: "b" } });
		expect(readFileSync(`${proof}.later`, "utf8")).toBe("alone\n");
		expect(a.home.leftovers()).toEqual([]);
	}, 30_000);

	test("killed with its guard: the watchers beside its shims end its runs, then others have them", async () => {
		const fleet = makeFleet("6s");
		const [a, b] = [await fleet.up("a"), await fleet.up("b")];
		const proof = join(fleet.folder, "proof");
		await b.client.call("host.drain", { name: "b" });
		const job = await add(a.client, ["sh", "-c", PROOF, "sh", proof]);
		// Its child has left the session and ignores the first signal; the program and its shim do not wait for it.
		const deaf = await add(a.client, ["sh", "-c", `setsid sh -c 'trap "" TERM; while :; do sleep 0.1; done' & wait`], {
			host_labels: ["on-a"],
		});
		const first = await until(() => (existsSync(proof) ? Number(readFileSync(proof, "utf8")) : 0));
		await reaches(a.client, deaf, "running");
		await b.client.call("host.undrain", { name: "b" });
		await killWithGuard(a);
		await until(() => !isAlive(first));
		expect(await stateOf(b.client, "a")).toBe("live");
		expect((await show(b.client, job)).status).toBe("running");

		expect(await ended(b.client, job)).toMatchObject({ status: "succeeded", attempt: 2, last_run: { host: "b" } });
		expect(readFileSync(`${proof}.later`, "utf8")).toBe("alone\n");
		expect(a.home.leftovers()).toEqual([]);
		await until(() => watchersOf(a.home.path).length === 0);
	}, 30_000);

	test("moved away from its daemon: its runs end when the lease does, and the next daemon finds them lost, not failed", async () => {
		const fleet = makeFleet("6s");
		const a = await fleet.up("a");
		const proof = join(fleet.folder, "proof");
		const job = await add(a.client, ["sh", "-c", PROOF, "sh", proof]);
		const first = await until(() => (existsSync(proof) ? Number(readFileSync(proof, "utf8")) : 0));
		const moved = new TestHome(`${a.home.path}-moved`);
		renameSync(a.home.path, moved.path);
		await until(() => !isAlive(first));
		const again = await fleet.up("a", "", moved);
		expect(await ended(again.client, job)).toMatchObject({ status: "succeeded", attempt: 2 });
		const { events } = await again.client.call("job.history", { id: job });
		expect(events.find(({ kind }) => kind === "requeued")?.data).toMatchObject({ exit_kind: "lost" });
	}, 30_000);

	test("a host alone that was paused finds its runs lost, not failed", async () => {
		const fleet = makeFleet();
		const a = await fleet.up("a");
		const proof = join(fleet.folder, "proof");
		const job = await add(a.client, ["sh", "-c", PROOF, "sh", proof]);
		const first = await until(() => (existsSync(proof) ? Number(readFileSync(proof, "utf8")) : 0));
		a.child.kill("SIGSTOP");
		await until(() => !isAlive(first));
		a.child.kill("SIGCONT");
		expect(await ended(a.client, job)).toMatchObject({ status: "succeeded", attempt: 2 });
		const { events } = await a.client.call("job.history", { id: job });
		expect(events.find(({ kind }) => kind === "requeued")?.data).toMatchObject({ exit_kind: "lost" });
	}, 30_000);

	test("a home with runs of one store is refused another", async () => {
		const fleet = makeFleet();
		const a = await fleet.up("a");
		await ended(a.client, await add(a.client, ["true"]));
		await a.home.kill(a.child);
		const child = a.home.spawn({ SLUICE_STORE: join(fleet.folder, "another.db") });
		await a.home.gone(child);
		expect([child.exitCode, child.said()]).toEqual([4, expect.stringMatching(/belong to another store \(.*fleet\.db\)/)]);
	});
});

test("a home with a store of its own has no lease, no guard and no watchers", async () => {
	const home = new TestHome();
	home.make("stale_after: 1s\n");
	const { client } = await home.up();
	expect((await client.call("host.list", {})).hosts).toMatchObject([{ name: "local", lease_until: null }]);
	expect(existsSync(join(home.path, "lease"))).toBe(false);
	await reaches(client, await add(client, ["sleep", "600"]), "running");
	expect([...guardsOf(home), ...watchersOf(home.path)]).toEqual([]);
});
