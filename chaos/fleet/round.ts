// One round of a fleet: four hosts on one PostgreSQL, work with locks, caps and dependencies, everything done to them that can be done; then the verdict.

import { appendFileSync, chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Server, startServer } from "../../test/make/stores/postgres-server.ts";
import { randomOf } from "../work.ts";
import { Database } from "./database.ts";
import { chooseHost, type Disturbance, disturb, drawPlans } from "./disturbances.ts";
import { FleetHost } from "./host.ts";
import { PROGRAM } from "./program.ts";
import { judgeLines, judgeViolations, readLines } from "./proofs.ts";
import { type Harm, replay } from "./replay.ts";
import { drawWork, manifestOf, type Piece, settingsFor } from "./work.ts";

export type RoundOptions = {
	seed: number;
	jobs: number;
	hosts?: number;
	staleMs: number;
	/** These and no others, one after the other; all kinds at random until most of the work is done, when not given. */
	only?: Disturbance[];
	/** How often the database is restarted; once of these in an instant, without a shutdown. */
	restarts: number;
	/** What node runs as a daemon. */
	daemon: readonly string[];
	say?: (line: string) => void;
};

export type RoundReport = {
	seed: number;
	faults: string[];
	folder: string;
	seconds: number;
	harms: Harm[];
	figures: Record<string, number>;
	highest: { store: Record<string, number>; programs: Record<string, number> };
};

/** How many hosts may be in trouble at once: the others go on with the work. */
const AT_ONCE = 2;
const graceMs = (ms: number) => Math.min(30_000, Math.ceil(ms / 10));
const REFUSED = /its job has moved on/;

export async function playRound(options: RoundOptions): Promise<RoundReport> {
	const { seed, jobs, hosts: count = 4, staleMs, say = () => {} } = options;
	const folder = mkdtempSync(join(tmpdir(), "sluice-fleet-"));
	const proofs = join(folder, "proofs");
	for (const sub of ["", "slots", "keys"]) mkdirSync(join(proofs, sub));
	const program = join(folder, "proof.sh");
	writeFileSync(program, PROGRAM);
	const random = randomOf(seed);
	const pieces = drawWork(random, jobs);
	const begun = Date.now();
	const report: RoundReport = { seed, faults: [], folder, seconds: 0, harms: [], figures: {}, highest: { store: {}, programs: {} } };
	const { harms, faults } = report;
	const serverLog = join(folder, "postgres");
	mkdirSync(serverLog);
	// Written by whoever the server runs as.
	chmodSync(folder, 0o711);
	chmodSync(serverLog, 0o777);
	const server = await startServer({ durability: "full", settings: { logging_collector: "on", log_directory: `'${serverLog}'` } });
	const hosts: FleetHost[] = [];
	const whole = new Set<FleetHost>();
	const endAll = async () => {
		for (const host of hosts) await host.end();
		server.end();
	};
	// Daemons and their runs would outlive us.
	const interrupted = () => void endAll().finally(() => process.exit(130));
	for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, interrupted);
	try {
		const url = await server.makeDatabase();
		const names = Array.from({ length: count }, (_, n) => `h${n + 1}`);
		const config = configFor(settingsFor(names, staleMs));
		for (const name of names) hosts.push(await FleetHost.make({ name, folder, url, daemon: options.daemon, config }));
		const database = new Database(url);
		const [first] = hosts as [FleetHost];
		for (const host of hosts) host.up();
		for (const host of hosts) await host.ask((at) => at.call("scheduler.status", {}));
		for (const host of hosts) whole.add(host);
		await first.ask((at) => at.call("job.apply", { manifest: manifestOf(pieces, program, proofs) }));
		say(`${jobs} jobs on ${count} hosts after ${Math.round((Date.now() - begun) / 1000)} s`);

		let over = false;
		const total = pieces.length;
		const cancelling = cancelSome(hosts, pieces, database, () => over);
		const restarting = restart({ ...options, server, database, total, harms, say });
		const disturbing = disturbAll({ ...options, random, hosts, whole, harms, say, progress: async () => (await database.ended()) / total });
		for (let before = -1; ; ) {
			const ended = await database.ended();
			if (ended === total) break;
			if (ended >= before + total / 10) {
				before = ended;
				say(`${Math.round((Date.now() - begun) / 1000)} s: ${ended} of ${total} ended`);
			}
			await Promise.race([sleep(200), disturbing.then(() => sleep(200))]);
		}
		over = true;
		await Promise.all([cancelling, restarting, disturbing]);
		report.seconds = (Date.now() - begun) / 1000;

		await settled(hosts, database, faults);
		for (const host of hosts) await host.down();
		// The guard of a lease looks now and then whether there is still one.
		for (let tries = 0; tries < 50 && hosts.some((host) => host.processes().length > 0); tries++) await sleep(100);
		for (const host of hosts)
			for (const stray of host.processes()) faults.push(`${host.name}: process ${stray.pid} is left after down: ${stray.command}`);
		await judge({ report, pieces, proofs, database, hosts });
	} catch (error) {
		faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
	} finally {
		for (const signal of ["SIGINT", "SIGTERM"] as const) process.removeListener(signal, interrupted);
		await endAll();
		if (faults.length > 0) appendFileSync(join(folder, "faults"), `${faults.join("\n")}\n${JSON.stringify(harms)}\n`);
		if (faults.length === 0) rmSync(folder, { recursive: true, force: true });
	}
	return report;
}

/** All hosts begin with the same file; what counts for all is the store's from then on. */
const configFor = (settings: Record<string, unknown>): string =>
	Object.entries({ ...settings, stop: { grace_int: "200ms", grace_term: "500ms" } })
		.map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
		.join("");

type Trouble = Omit<RoundOptions, "hosts"> & {
	random: () => number;
	hosts: FleetHost[];
	whole: Set<FleetHost>;
	harms: Harm[];
	progress: () => Promise<number>;
};

async function disturbAll({ random, hosts, whole, harms, staleMs, only, progress, say = () => {} }: Trouble): Promise<void> {
	const lease = { staleMs, graceMs: graceMs(staleMs) };
	const plans = drawPlans(random, hosts.length, lease, only);
	const open = new Set<Promise<void>>();
	for (const plan of plans) {
		if (only === undefined && (await progress()) > 0.9) break;
		const order = [...hosts.slice(plan.host), ...hosts.slice(0, plan.host)];
		const host = await chooseHost(
			order.filter((one) => whole.has(one)),
			plan.what,
		);
		whole.delete(host);
		say(`  ${host.name}: ${plan.what} for ${Math.round(plan.ms)} ms`);
		const done = disturb(host, plan, harms).then(() => {
			whole.add(host);
			open.delete(done);
		});
		open.add(done);
		if (open.size >= AT_ONCE) await Promise.race(open);
		await sleep(random() * 1500);
	}
	await Promise.all(open);
}

type Restarts = RoundOptions & { server: Server; database: Database; total: number; harms: Harm[]; say: (line: string) => void };

/** Spread over the work; the one in the middle without a shutdown. */
async function restart({ restarts, server, database, total, harms, say }: Restarts): Promise<void> {
	for (let n = 1; n <= restarts; n++) {
		for (let ended = 0; ended < (total * n) / (restarts + 2); ended = await database.ended()) await sleep(200);
		const mode = n === Math.ceil(restarts / 2) ? "immediate" : "fast";
		const from = Date.now();
		server.stop(mode);
		server.start();
		harms.push({ host: "*", what: `restart ${mode}`, from, to: Date.now(), kills: false });
		say(`  PostgreSQL was restarted (${mode}) in ${Date.now() - from} ms`);
	}
}

/** Those that would run for ever: each is cancelled once it runs, through some other host's daemon perhaps. */
async function cancelSome(hosts: FleetHost[], pieces: readonly Piece[], database: Database, over: () => boolean): Promise<void> {
	const open = new Set(pieces.filter((piece) => piece.cancel).map((piece) => piece.name));
	while (open.size > 0 && !over()) {
		for (const { id, name } of await database.running()) {
			if (!open.has(name)) continue;
			const host = hosts[id % hosts.length] as FleetHost;
			if (await host.tries((at) => at.call("job.cancel", { id }), 2000)) open.delete(name);
		}
		await sleep(300);
	}
}

/** Everything is told and swept a little after the last end. */
async function settled(hosts: readonly FleetHost[], database: Database, faults: string[]): Promise<void> {
	for (const host of hosts) await host.ask((at) => at.call("scheduler.status", {}));
	const left = async () => [
		...hosts.flatMap((host) => host.runProcesses().map(({ pid, command }) => `${host.name}: process ${pid} of a run is left: ${command}`)),
		...(await database.left()),
		...(await database.hosts()).filter(({ state }) => state !== "live").map(({ name, state }) => `host ${name} is ${state}`),
	];
	let found = await left();
	for (let tries = 0; found.length > 0 && tries < 100; tries++) {
		await sleep(200);
		found = await left();
	}
	faults.push(...found);
}

async function judge({
	report,
	pieces,
	proofs,
	database,
	hosts,
}: {
	report: RoundReport;
	pieces: readonly Piece[];
	proofs: string;
	database: Database;
	hosts: readonly FleetHost[];
}): Promise<void> {
	const { faults, harms } = report;
	const byName = new Map(pieces.map((piece) => [piece.name, piece]));
	const jobs = await database.jobs();
	if (jobs.length !== pieces.length) faults.push(`${jobs.length} jobs instead of ${pieces.length}`);
	const byId = new Map(jobs.map(({ id, name }) => [id, byName.get(name) as Piece]));
	const events = await database.events();
	writeFileSync(join(report.folder, "events.json"), events.map((event) => `${JSON.stringify(event)}\n`).join(""));
	const verdict = replay(events, byId, harms);
	const read = (name: string) => (existsSync(join(proofs, name)) ? readFileSync(join(proofs, name), "utf8") : "");
	const proof = judgeLines(readLines(read("log")), verdict.attempts, byId, harms);
	faults.push(...verdict.faults, ...proof.faults, ...judgeViolations(read("violations"), harms));
	const refused = hosts
		.map(
			(host) =>
				host
					.log()
					.split("\n")
					.filter((line) => REFUSED.test(line)).length,
		)
		.reduce((a, b) => a + b, 0);
	report.highest = { store: verdict.highest, programs: proof.highest };
	report.figures = {
		attempts: verdict.attempts.size,
		lost: verdict.lost,
		hosts_lost: events.filter(({ kind }) => kind === "host_lost").length,
		programs: proof.begun,
		programs_cut: proof.cut,
		programs_beyond_lease: proof.beyond,
		refused,
	};
	if (proof.begun > verdict.attempts.size) faults.push(`${proof.begun} programs began, ${verdict.attempts.size} attempts are known`);
}
