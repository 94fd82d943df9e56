// Daemons on one PostgreSQL, of which one leads: what happens when it is killed, stopped, sent away, or was never allowed to lead.

import type { ChildProcess } from "node:child_process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Client } from "../../src/api/client.ts";
import { until } from "../make/daemons/daemon.ts";
import { hosts, type TestHost } from "../make/daemons/host.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

type Host = TestHost & { client: Client };
const CONFIG = "stop: {grace_int: 100ms, grace_term: 300ms}\n";
const WAIT = 25_000;

const add = async (client: Client, command: string[], more: Record<string, unknown> = {}): Promise<number> => {
	const { job } = (await client.call("job.add", { command, ...more })) as { job: { id: number } };
	return job.id;
};
const leaderOf = async (client: Client) => (await client.call("host.list", {})).hosts.find(({ leads }) => leads)?.name;

const daemonOf = (host: Host) => host.daemons.at(-1) as ChildProcess;
const kill = (host: Host) => host.kill(daemonOf(host));
/** As `sluice down` does. */
async function down(host: Host): Promise<void> {
	daemonOf(host).kill("SIGTERM");
	await host.gone(daemonOf(host));
}

/** The hosts, with the one that leads first. */
async function byRank(all: Record<string, Host>): Promise<Host[]> {
	const list = Object.values(all);
	const leader = await leaderOf((list[0] as Host).client);
	return [...list.filter(({ name }) => name === leader), ...list.filter(({ name }) => name !== leader)];
}
/** The jobs are done by any host, each once. */
async function areDone(client: Client, ids: number[]): Promise<void> {
	const { jobs } = await client.call("job.wait", { ids, timeout_ms: WAIT });
	for (const { id } of jobs) expect((await client.call("job.show", { id })).job).toMatchObject({ status: "succeeded", attempt: 1 });
}

test("killed: another host leads, and calls that were under way are carried out once", async () => {
	const [leader, other] = (await byRank(await hosts({ a: CONFIG, b: CONFIG }, await server.makeDatabase()))) as [Host, Host];
	await add(other.client, ["true"]);
	await kill(leader);
	const ids = await Promise.all(Array.from({ length: 5 }, () => add(other.client, ["true"])));
	expect(new Set(ids).size).toBe(5);
	await areDone(other.client, ids);
	expect(await leaderOf(other.client)).toBe(other.name);
});

test("stopped: another host leads, and what the first one says when it wakes changes nothing", async () => {
	const [leader, other] = (await byRank(await hosts({ a: CONFIG, b: CONFIG }, await server.makeDatabase()))) as [Host, Host];
	daemonOf(leader).kill("SIGSTOP");
	const ids = await Promise.all(Array.from({ length: 3 }, () => add(other.client, ["true"])));
	await areDone(other.client, ids);
	daemonOf(leader).kill("SIGCONT");
	const late = await add(leader.client, ["true"]);
	await areDone(leader.client, [late]);
	expect(await leaderOf(leader.client)).toBe(other.name);
});

test("down: it hands over and leaves", async () => {
	const [leader, other] = (await byRank(await hosts({ a: CONFIG, b: CONFIG }, await server.makeDatabase()))) as [Host, Host];
	await down(leader);
	await areDone(other.client, [await add(other.client, ["true"])]);
	expect(await leaderOf(other.client)).toBe(other.name);
	const { hosts: known } = await other.client.call("host.list", {});
	expect(known.find(({ name }) => name === leader.name)).toMatchObject({ state: "gone", gone: "left" });
});

test("a host that prefers to lead takes over; one that never leads runs jobs all the same", async () => {
	const store = await server.makeDatabase();
	const { a } = await hosts({ a: CONFIG }, store);
	const { b } = await hosts({ b: `${CONFIG}host: {lead: prefer}\n` }, store);
	await until(async () => (await leaderOf(a.client)) === "b");
	const { c } = await hosts({ c: `${CONFIG}host: {lead: never, labels: [gpu]}\n` }, store);
	const id = await add(a.client, ["true"], { host_labels: ["gpu"] });
	await areDone(c.client, [id]);
	expect((await c.client.call("job.show", { id })).job).toMatchObject({ last_run: { host: "c" } });
	await down(b);
	await until(async () => (await leaderOf(c.client)) === "a");
});

test("a trigger that all hosts have fires once for each of its times, also when the leader dies", async () => {
	// A job that runs on the killed host stays open, and would keep the trigger from firing: it runs on the other one.
	const cron = `${CONFIG}cron: {tick: {schedule: "* * * * * *", add: {command: ["true"], host_labels: [runner]}}}\n`;
	const all = await hosts({ a: cron, b: `${cron}host: {labels: [runner]}\n` }, await server.makeDatabase());
	const { a, b } = all;
	expect(await leaderOf(b.client)).toBe("a");
	const ticks = async () => (await b.client.call("job.list", { all: true })).jobs.filter(({ trigger }) => trigger === "cron:tick");
	await until(async () => (await ticks()).length >= 3);
	await kill(a);
	const before = (await ticks()).length;
	await until(async () => (await ticks()).length >= before + 3);
	const times = (await ticks()).map(({ created_at }) => Date.parse(String(created_at))).sort((one, other) => one - other);
	const [first = 0, last = 0] = [times[0], times.at(-1)];
	expect(times.length).toBeLessThanOrEqual((last - first) / 1000 + 2);
});
