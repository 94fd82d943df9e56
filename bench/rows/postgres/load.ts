// What a fleet asks of its database, measured: the time that each kind of transaction has the lock when somebody else has always just committed,
// its round trips, WAL and events a job, and what a notice costs for each that listens. docs/fleet-load.md builds on these.

import { readFileSync } from "node:fs";
import type { Client } from "pg";
import type { Scheduler } from "../../../src/index.ts";
import { openTcpProxy } from "../../../test/make/stores/tcp-proxy.ts";
import { payload } from "../../engine.ts";
import { addAll, claimExactly, completeAll, openFleet } from "../../fleet.ts";
import { connect, inDatabase, query } from "../../postgres.ts";
import type { Bench, Measure, Row } from "../../row.ts";
import { median, sample } from "../../statistics.ts";

const BATCH = 100;
const SLOW_MS = 5;
const HOSTS = 1000;

export const pgLoad: Row = {
	name: "pg-load",
	title: "constants of the database's load by a fleet",
	run: (bench) => inDatabase("load", (url) => measureLoad(url, bench)),
};

async function measureLoad(url: string, bench: Bench): Promise<Measure[]> {
	const times = bench.size(40, 8);
	const proxy = await openTcpProxy(Number(new URL(url).port));
	const through = new URL(url);
	through.port = String(proxy.port);
	const near = await openFleet(through.href, { drive: "manual", name: "near" });
	const backend = await backendOf(url);
	const other = await openFleet(url, { drive: "manual", name: "other" });
	const pings = await connect(through.href);
	try {
		await addAll(other, bench.size(20_000, 3000), BATCH);
		const kinds = kindsOf(near);
		const fast = await measureKinds(kinds, other, times, backend);
		const fastPing = await ping(pings, times);
		proxy.slow(SLOW_MS);
		const slow = await measureKinds(kinds, other, Math.ceil(times / 4), backend);
		const slowPing = await ping(pings, Math.ceil(times / 4));
		proxy.slow(0);
		await query(
			url,
			`INSERT INTO sluice.record (kind, key, body) SELECT kind, key || '-' || n, body FROM sluice.record, generate_series(1, ${HOSTS}) AS n WHERE kind = 'host' AND key = 'other'`,
		);
		const crowded = (await measureKinds({ poll: { run: () => near.tick() } }, other, times, backend)).poll as Cost[];
		const measures = Object.keys(kinds).map((kind): Measure => {
			const [quick, late] = [fast[kind] as Cost[], slow[kind] as Cost[]];
			const trips = (median(late.map(({ ms }) => ms)) - median(quick.map(({ ms }) => ms))) / (slowPing - fastPing);
			return {
				what: `fleet: ${kind}, after another's commit`,
				unit: "ms",
				measured: sample(quick.map(({ ms }) => ms)),
				note: `${processorOf(quick)}, ${trips.toFixed(1)} round trips`,
			};
		});
		return [
			{ what: "fleet: round trip", unit: "ms", measured: sample([fastPing]) },
			...measures,
			{
				what: `fleet: poll with nothing to do, ${HOSTS.toLocaleString("en")} more hosts on record`,
				unit: "ms",
				measured: sample(crowded.map(({ ms }) => ms)),
				note: processorOf(crowded),
			},
			...(await volume(other, url, bench)),
			...(await fanOut(url, bench)),
		];
	} finally {
		await pings.end();
		await Promise.all([near.close(), other.close()]);
		proxy.close();
	}
}

type Kind = { run(): Promise<unknown> };

function kindsOf(engine: Scheduler): Record<string, Kind> {
	let held: Awaited<ReturnType<Scheduler["claim"]>> = [];
	const claim = (max: number): Kind => ({
		run: async () => {
			held = await claimExactly(engine, max);
		},
	});
	const complete = (): Kind => ({ run: () => completeAll(engine, held) });
	const run = () => {
		const [one] = held;
		if (!one) throw new Error("nothing is held");
		return { job: one.job.id, token: one.run.token };
	};
	return {
		"poll with nothing to do": { run: () => engine.tick() },
		heartbeat: { run: () => engine.heartbeat() },
		"add of 1": { run: () => engine.add(payload(0)) },
		"add of 100": { run: () => addAll(engine, BATCH, BATCH) },
		"claim of 1": claim(1),
		"started of 1": { run: () => engine.started(run()) },
		"lease of 1": { run: () => engine.extend(run()) },
		"end of 1": complete(),
		"claim of 100": claim(BATCH),
		"lease of 100": { run: () => Promise.all(held.map((one) => engine.extend({ job: one.job.id, token: one.run.token }))) },
		"end of 100": complete(),
	};
}

/** Milliseconds by the clock; and of processor, which says the same on a busy machine. */
type Cost = { ms: number; host: number; database: number };

const processorOf = (costs: Cost[]): string =>
	`${median(costs.map(({ host }) => host)).toFixed(2)} ms of processor of the host, ${median(costs.map(({ database }) => database)).toFixed(2)} ms of the database`;

/** The process that serves the one connection there is. */
async function backendOf(url: string): Promise<number> {
	const [row] = await query<{ pid: number }>(
		url,
		"SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE 'sluice%' AND application_name NOT LIKE '%listener'",
	);
	return row?.pid ?? 0;
}

/** How long a process has run so far, in milliseconds, exactly; 0 where Linux does not tell. */
function ranMs(pid: number): number {
	try {
		return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[0]) / 1e6;
	} catch {
		return 0;
	}
}

/** Each kind in turn, and before each the other commits something: nothing that was remembered holds. */
async function measureKinds(
	kinds: Record<string, Kind>,
	other: Scheduler,
	times: number,
	backend: number,
): Promise<Record<string, Cost[]>> {
	const found: Record<string, Cost[]> = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, []]));
	for (let n = -1; n < times; n++)
		for (const [kind, { run }] of Object.entries(kinds)) {
			await other.heartbeat();
			const [start, ran, used] = [performance.now(), ranMs(backend), process.cpuUsage()];
			await run();
			const { user, system } = process.cpuUsage(used);
			const cost = { ms: performance.now() - start, host: (user + system) / 1000, database: ranMs(backend) - ran };
			if (n >= 0) found[kind]?.push(cost);
		}
	return found;
}

async function ping(client: Client, times: number): Promise<number> {
	const found: number[] = [];
	for (let n = 0; n < times; n++) {
		const start = performance.now();
		await client.query("SELECT 1");
		found.push(performance.now() - start);
	}
	return median(found);
}

async function volume(engine: Scheduler, url: string, bench: Bench): Promise<Measure[]> {
	const wal = async () => Number((await query<{ at: string }>(url, "SELECT pg_current_wal_lsn() - '0/0' AS at"))[0]?.at);
	const lives = async (count: number, batch: number) => {
		const before = await wal();
		for (let n = 0; n < count; n += batch) {
			await addAll(engine, batch, batch);
			await completeAll(engine, await claimExactly(engine, batch));
		}
		return ((await wal()) - before) / count / 1024;
	};
	// After a checkpoint whole pages are logged at their first change: that is part of a day, but not of a comparison of two.
	await lives(BATCH * 5, BATCH);
	const [alone, together] = [await lives(bench.size(200, 20), 1), await lives(bench.size(5000, 500), BATCH)];
	const [event] = await query<{ count: string; bytes: string }>(
		url,
		"SELECT count(*) AS count, pg_total_relation_size('sluice.event') AS bytes FROM sluice.event",
	);
	return [
		{ what: "fleet: WAL of a job's life, one at a time", unit: "kB/job", measured: sample([alone]) },
		{ what: "fleet: WAL of a job's life, 100 at a time", unit: "kB/job", measured: sample([together]) },
		{
			what: "fleet: an event with its indexes",
			unit: "bytes",
			measured: sample([Number(event?.bytes) / Number(event?.count)]),
			note: "three events a job",
		},
	];
}

/** From the notice until all have heard it, with few and with many that listen. */
async function fanOut(url: string, bench: Bench): Promise<Measure[]> {
	const listeners: Client[] = [];
	const teller = await connect(url);
	let heard = 0;
	let all = () => {};
	const grow = async (to: number) => {
		while (listeners.length < to) {
			const client = await connect(url);
			client.on("notification", () => {
				if (++heard === listeners.length) all();
			});
			await client.query("LISTEN fan");
			listeners.push(client);
		}
	};
	const tell = async () => {
		const found: number[] = [];
		for (let n = 0; n < bench.size(100, 20); n++) {
			heard = 0;
			const done = new Promise<void>((resolve) => {
				all = resolve;
			});
			const start = performance.now();
			await teller.query("SELECT pg_notify('fan', $1)", [String(n)]);
			await done;
			found.push(performance.now() - start);
		}
		return median(found);
	};
	try {
		const [few, many] = [5, 100];
		await grow(few);
		const short = await tell();
		await grow(many);
		const long = await tell();
		return [
			{
				what: "fleet: a notice, for each that listens",
				unit: "µs",
				measured: sample([((long - short) * 1000) / (many - few)]),
				note: `until all have heard: ${short.toFixed(2)} ms with ${few}, ${long.toFixed(2)} ms with ${many}, all in one process of Node here`,
			},
		];
	} finally {
		await Promise.all([teller, ...listeners].map((client) => client.end()));
	}
}
