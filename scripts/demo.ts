// npm run demo: a real session with a daemon that is killed in the middle, about 20 seconds; `-- --pace 0.5` plays it twice as fast.
//
//   scene      what happens                                                         what it shows
//   lock       schema and import want the lock db                                   `why` tells every reason
//   cancel     crawl is cancelled; its helpers have left its session                all of them go, only then the slot is given away
//   death      the daemon gets SIGKILL while agents run, and is started again       they go on, and are found again
//   retry      unit fails once                                                      a back-off, then the second attempt
//   approval   release asks, ann agrees                                             a job that waits for a person
//
// The demo is a client like any other: the files in demo/ use JSON-RPC, the event stream and the run folders, and nothing inside.

import { setTimeout as sleep } from "node:timers/promises";
import type { EventDocument } from "../src/api/documents.ts";
import { Board, type Run } from "./demo/board.ts";
import { begin, isLive, type Line, listed, print, seconds } from "./demo/paint.ts";
import { openScreen, type Screen, TITLE } from "./demo/screen.ts";
import { isAlive, Session } from "./demo/session.ts";
import { configText, manifest, OVER, PROGRAMS } from "./demo/story.ts";
import { check, type Outage, readAll, type Stopped, summary } from "./demo/summary.ts";

const FRAME_MS = 100;
const LONGEST_MS = 90_000;

function paceOf(args: readonly string[]): number {
	const pace = args.length === 0 ? 1 : args[0] === "--pace" && args.length === 2 ? Number(args[1]) : Number.NaN;
	if (pace >= 0.1 && pace <= 10) return pace;
	console.error("usage: npm run demo [-- --pace N], N from 0.1 to 10: every time in it is multiplied by that");
	process.exit(2);
}

const pace = paceOf(process.argv.slice(2));
const pause = (ms: number) => sleep(ms * pace);

/** What has happened so far, and whoever waits for something to happen. */
class Told {
	private readonly heard = new Set<string>();
	private waiting: { what: string; go: () => void }[] = [];

	hear({ kind, job }: EventDocument, name: string): void {
		const what = job === null ? kind : `${name} ${kind}`;
		this.heard.add(what);
		for (const one of this.waiting.filter((each) => each.what === what)) one.go();
		this.waiting = this.waiting.filter((each) => each.what !== what);
	}

	/** `schema started`, `batch_closed` */
	once(what: string): Promise<void> {
		return new Promise((resolve) => {
			if (this.heard.has(what)) resolve();
			else this.waiting.push({ what, go: resolve });
		});
	}
}

type Stage = { session: Session; board: Board; screen: Screen; told: Told };

async function askWhy({ session, board, screen, told }: Stage): Promise<void> {
	await told.once("schema started");
	await pause(1000);
	const { reasons, priority } = await session.call("job.why", { id: "import" });
	const sum = priority.terms.map(({ name, value }) => `${value} ${name}`).join(" + ");
	screen.panel([
		[
			["Why does import wait? ", "bold"],
			["job.why tells all reasons, not only the first:", "dim"],
		],
		...reasons.map((reason): Line => [`  ${reason.gate.padEnd(9)}`, [board.reasonWords(reason), "yellow"]]),
		[`  priority ${priority.total} = ${sum}`],
	]);
	await pause(1900);
}

async function cancelTree({ session, board, screen, told }: Stage): Promise<Stopped> {
	const id = board.id("crawl");
	// Its helpers may still be on their way.
	while (session.log(id, 1).length < 3) await sleep(20);
	const pids = session
		.log(id, 1)
		.map((line) => Number(/^\[(\d+)\]/.exec(line)?.[1]))
		.sort((a, b) => a - b);
	if (!pids.every(isAlive)) throw new Error(`crawl should be three processes: ${listed(pids.map(String))}`);
	screen.say([["crawl", "bold"], ` is pids ${listed(pids.map(String))}, two in sessions of their own`]);
	const from = Date.now();
	await session.call("job.cancel", { id, reason: "it never ends", by: "ann" });
	await told.once("crawl ended");
	const ms = Date.now() - from;
	const left = pids.filter(isAlive);
	if (left.length > 0) throw new Error(`crawl was cancelled, but ${listed(left.map(String))} live`);
	screen.say([["crawl", "bold"], ` and its helpers are gone after ${seconds(ms)}: the slot is free`]);
	return { name: "crawl", pids, ms };
}

async function killDaemon({ session, board, screen, told }: Stage): Promise<Outage> {
	await Promise.all([told.once("import started"), told.once("styles started"), told.once("pages started")]);
	await pause(900);
	await board.refresh();
	const alive = await board.running();
	const names = listed(alive.map(({ name }) => name));
	const before = session.pid ?? 0;
	const from = Date.now();
	await session.kill();
	screen.alarm(`NO DAEMON: pid ${before} was killed with SIGKILL. Its agents go on.`);
	screen.say([["kill -9", "red"], ` the daemon, pid ${before}, while ${names} run`]);
	await pause(1100);
	for (const { name, job, attempt, pid } of alive) {
		const said = board.said({ id: job, attempt });
		screen.say([[name, "bold"], isAlive(pid) ? `, pid ${pid}, goes on without a daemon: ${said?.text}` : `, pid ${pid}, ended by itself`]);
	}
	await pause(900);
	const after = await session.start();
	const outage: Outage = { from, to: Date.now(), before, after, found: [], ended: [] };
	screen.alarm(undefined);
	const { adopted, ended, lost } = await session.found();
	screen.say([
		["a new daemon", "green"],
		`, pid ${after}: of ${alive.length} runs it found ${adopted} alive, ${ended} ended, ${lost} lost`,
	]);
	for (const run of alive) await findAgain({ session, board, screen, told }, run, outage);
	session.touch(OVER);
	return outage;
}

/** Still there, as the same attempt in the same process; or ended meanwhile, and that was noticed. */
async function findAgain({ session, screen, told }: Stage, run: Run, outage: Outage): Promise<void> {
	const { job } = await session.call("job.show", { id: run.job });
	if (job.attempt !== run.attempt) throw new Error(`${run.name} was started again`);
	if (job.status === "running" && isAlive(run.pid)) {
		outage.found.push(run.name);
		screen.say([[run.name, "bold"], ` is still pid ${run.pid}, attempt ${run.attempt}: found again, not started again`]);
	} else {
		await told.once(`${run.name} ended`);
		outage.ended.push(run.name);
		screen.say([[run.name, "bold"], " ended while there was no daemon: its folder told how"]);
	}
}

async function approve({ session, screen, told }: Stage): Promise<void> {
	await Promise.all(["unit", "e2e", "lint", "styles", "docs"].map((name) => told.once(`${name} ended`)));
	screen.say([["release", "bold"], " has all it needs but an approval"]);
	await pause(1200);
	await session.call("job.approve", { id: "release", by: "ann" });
}

async function play(session: Session): Promise<Line[]> {
	const board = new Board(session);
	const screen = openScreen(board);
	const told = new Told();
	const stage = { session, board, screen, told };
	begin();
	const pid = await session.start();
	screen.say([["the daemon is up", "green"], `, pid ${pid}`]);
	const { names } = await session.call("job.apply", { manifest: manifest(session.work, pace), by: "ann" });
	board.learn(names);

	let over = false;
	const listening = (async () => {
		for await (const event of session.events()) {
			if (session.isClosing) return;
			const line = board.eventWords(event);
			if (line) screen.say(line);
			told.hear(event, board.named(event.job));
			if (event.kind === "batch_closed") return;
		}
	})();
	// Times on the screen go on between two events.
	const drawing = (async () => {
		for (; !over && !session.isClosing; await sleep(FRAME_MS)) await screen.frame();
	})();
	const scenes = (async () => {
		await askWhy(stage);
		const stopped = await cancelTree(stage);
		const outage = await killDaemon(stage);
		await approve(stage);
		await listening;
		return { stopped, outage };
	})();
	const failed = Promise.all([listening, drawing, overdue()]) as Promise<never>;
	const { stopped, outage } = await Promise.race([scenes, failed]);
	over = true;
	await drawing;
	await screen.frame();

	const all = await readAll(board);
	check(all, outage);
	screen.clear();
	return [...(isLive ? [...TITLE, []] : []), ...summary(all, outage, stopped)];
}

async function overdue(): Promise<never> {
	await sleep(LONGEST_MS * Math.max(1, pace), undefined, { ref: false });
	throw new Error(`not over after ${seconds(LONGEST_MS * Math.max(1, pace))}`);
}

/** Whatever happens, nothing is left behind. */
async function main(): Promise<number> {
	const session = new Session(configText(pace), PROGRAMS);
	process.once("exit", () => session.remove());
	const leave = (code: number) => {
		if (!session.isClosing) process.stderr.write("\nstopping everything, removing the home …\n");
		void session.close().finally(() => process.exit(code));
	};
	for (const [signal, code] of [
		["SIGINT", 130],
		["SIGTERM", 143],
		["SIGHUP", 129],
	] as const)
		process.on(signal, () => leave(code));
	process.stdout.on("error", () => leave(1));
	try {
		const lines = await play(session);
		const left = await session.close();
		if (left > 0) throw new Error(`${left} processes were left when the daemon had stopped`);
		print(...lines, [["Left       ", "bold"], "no process and no file: the daemon is down, its home removed"]);
		return 0;
	} catch (error) {
		const said = session.daemonLog();
		await session.close();
		console.error("The demo broke off. The daemon's last words:", ...said.slice(-10).map((line) => `\n  ${line}`));
		throw error;
	}
}

process.exitCode = await main();
process.exit();
