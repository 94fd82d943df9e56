// npm run demo: twelve jobs of one epic through the engine, in this process, on a real SQLite file; about 13 seconds.
//
//   the run     open · apply · work · until the batch closes · close and open again · summary
//   the story   two jobs want one lock; one fails once; an account meets a rate limit, which clears by itself; one asks for approval
//   the screen  on a terminal redrawn in place, else one line for each thing that happens; the engine knows of neither

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Claimed, type EventRow, type JobInput, type JobView, openScheduler, type Reason, type Scheduler } from "../src/index.ts";

// ---- the story ------------------------------------------------------------------------------------------------------------------------

const BATCH = "epic";
const LANES = { plan: { max: 2, priority: 10 }, code: { max: 3, priority: 20, accounts: ["claude"] }, review: { max: 1, priority: 30 } };
const CONFIG = {
	max_concurrent: 4,
	lanes: { default: null, ...LANES },
	accounts: { claude: {} },
	rate_limit: { margin: "0s", stagger: "300ms" },
	// Everything here happens within seconds, so the back-stop is quicker than its usual second.
	poll_interval: "100ms",
};

/** Stands in for an agent at work. */
type Work = { ms: number; failsOnce?: string; meetsLimit?: { afterMs: number; forMs: number } };

const STORY: (JobInput & { name: string; does: Work })[] = [
	{ name: "plan", lane: "plan", does: { ms: 900 } },
	{ name: "spec-data", lane: "plan", after: ["plan"], does: { ms: 1100 } },
	{ name: "spec-api", lane: "plan", after: ["plan"], does: { ms: 1400 } },
	{ name: "spec-ui", lane: "plan", after: ["plan"], does: { ms: 1100 } },
	{ name: "schema", lane: "code", after: ["spec-data"], locks: ["db"], priority: 10, does: { ms: 2600 } },
	{ name: "import", lane: "code", after: ["spec-data"], locks: ["db"], priority: 5, does: { ms: 1500 } },
	{
		name: "api",
		lane: "code",
		after: ["spec-api"],
		retry: { max: 2, base_ms: 1500 },
		does: { ms: 1100, failsOnce: "2 tests are red" },
	},
	{ name: "client", lane: "code", after: ["spec-api"], does: { ms: 2200, meetsLimit: { afterMs: 1500, forMs: 2500 } } },
	{ name: "pages", lane: "code", after: ["spec-ui"], does: { ms: 1700 } },
	{ name: "styles", lane: "code", after: ["spec-ui"], does: { ms: 1200 } },
	{ name: "review", lane: "review", after: ["schema", "import", "api", "client", "pages", "styles"], does: { ms: 1300 } },
	{ name: "merge", lane: "review", after: ["review"], requires_approval: true, does: { ms: 800 } },
];
/** The job that `why` is asked about, at its most interesting moment: while the account is limited. */
const ASKED = "import";
const APPROVAL_MS = 1500;

async function act(sluice: Scheduler, { job, run, spec }: Claimed): Promise<void> {
	const { ms, failsOnce, meetsLimit: limit } = spec.payload as Work;
	if (limit) {
		await sleep(limit.afterMs);
		await sluice.limit("claude", { until: Date.now() + limit.forMs }, { by: `job ${job.id}` });
	}
	await sleep(ms - (limit?.afterMs ?? 0));
	if (failsOnce !== undefined && run.attempt === 1) throw new Error(failsOnce);
}

// ---- words ----------------------------------------------------------------------------------------------------------------------------

type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan";
type Line = (string | [string, Style])[];
const CODES: Record<Style, number> = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };

let began = 0;
const seconds = (ms: number) => `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
const clock = (at: number) => seconds(at - began);
/** The engine prints times of day; here all times count from the start. */
const readable = (text: string) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (stamp) => clock(Date.parse(stamp)));

const names = new Map<number, string>();
const named = (id: number | null) => names.get(id ?? 0) ?? `job ${id}`;
const holders = (reason: Reason) => reason.holder?.map((who) => (who.startsWith("job:") ? named(Number(who.slice(4))) : who)).join(", ");

function reasonWords(reason: Reason): string {
	if (reason.code === "locks") return `lock ${reason.subject.slice(5)} is held by ${holders(reason)}`;
	if (reason.subject.startsWith("job:") && reason.gate === "after") return `waiting on ${named(Number(reason.subject.slice(4)))}`;
	return readable(reason.detail);
}

/** What happened, in a few words; undefined for what is not worth a line here. */
function eventWords({ kind, job, by, data }: EventRow): Line | undefined {
	switch (kind) {
		case "applied":
			return [`${STORY.length} jobs added, all or none`];
		case "started":
			return [[named(job), "bold"], ` starts${Number(data.attempt) > 1 ? `, attempt ${data.attempt}` : ""}`];
		case "requeued":
			return [[`${named(job)} failed`, "red"], `: ${data.message}; tried again at ${clock(Number(data.retry_at))}`];
		case "ended":
			return [[`${named(job)} ${data.to}`, data.to === "succeeded" ? "green" : "red"]];
		case "parked": {
			const reason = data.reason as Reason;
			return reason.code === "locks" ? [[named(job), "bold"], " waits: ", [reasonWords(reason), "yellow"]] : undefined;
		}
		case "limited":
			return [[`account ${data.account} is rate limited`, "yellow"], ` until ${clock(Number(data.until))}, says ${by}: no code job starts`];
		case "limit_over":
			return [`a run on account ${data.account} ended well: the limit is forgotten`];
		case "approved":
			return [[named(job), "bold"], ` approved by ${by}`];
		case "batch_closed":
			return [`batch ${data.batch}: all ${data.total} jobs have ended`];
		default:
			return undefined;
	}
}

async function whyWords(sluice: Scheduler, id: number): Promise<Line[]> {
	const { reasons, priority } = await sluice.why(id);
	const sum = priority.terms.map(({ name, value }) => `${value} ${name}`).join(" + ");
	return [
		[
			[`Why does ${named(id)} wait? `, "bold"],
			[`why(${id}) at ${clock(Date.now())}: all reasons, not the first`, "dim"],
		],
		...reasons.map((reason): Line => [`  ${reason.gate.padEnd(9)}`, [reasonWords(reason), "yellow"]]),
		[`  priority ${priority.total} = ${sum}`],
	];
}

// ---- the screen -----------------------------------------------------------------------------------------------------------------------

const isLive = process.stdout.isTTY === true && process.env.TERM !== "dumb" && (process.stdout.rows ?? 24) >= 24;
const colours = isLive && !process.env.NO_COLOR;

function paint(line: Line, width: number): string {
	let left = width;
	let out = "";
	for (const piece of line) {
		const [text, style] = typeof piece === "string" ? [piece, undefined] : piece;
		const shown = text.length > left ? `${text.slice(0, Math.max(0, left - 1))}…`.slice(0, left) : text;
		left -= shown.length;
		out += colours && style && shown ? `\x1b[${CODES[style]}m${shown}\x1b[0m` : shown;
	}
	return out;
}

const width = () => (isLive ? (process.stdout.columns ?? 80) - 1 : 119);
const print = (...lines: Line[]) => process.stdout.write(lines.map((line) => `${paint(line, width())}\n`).join(""));

const TITLE: Line[] = [
	[["Sluice demo", "bold"], ": the engine schedules the twelve jobs of one epic on a SQLite file."],
	["plan > 3 specs > 6 code jobs > review > merge; the work itself is pretended."],
	["Look for: one lock that two jobs want, a job that fails once, a rate limit that"],
	["clears by itself, an approval. Times are seconds since the start."],
];

/** Lines that are drawn over each other. */
class LiveScreen {
	private height = 0;
	private readonly heard: Line[] = [];
	private panel: { lines: Line[]; until: number } | undefined;

	constructor(private readonly sluice: Scheduler) {
		process.stdout.write("\x1b[?25l");
		process.once("exit", () => process.stdout.write("\x1b[?25h"));
		process.stdout.on("resize", () => {
			process.stdout.write("\x1b[2J\x1b[H");
			this.height = 0;
		});
	}

	say(line: Line): void {
		this.heard.push(line);
	}

	showWhy(lines: Line[]): void {
		this.panel = { lines, until: Date.now() + 4000 };
	}

	async frame(): Promise<void> {
		const [jobs, status] = await Promise.all([this.sluice.list({ all: true, batch: BATCH }), this.sluice.status()]);
		const waiting = jobs.filter((job) => job.ended_at === undefined && job.run === undefined);
		const reasons = new Map(await Promise.all(waiting.map(async (job) => [job.id, (await this.sluice.why(job.id)).reasons] as const)));
		const lanes = Object.entries(status.lanes).map(([name, { running, max }]) => `${name} ${running} of ${max}`);
		const limited = status.holds.find((hold) => hold.kind === "rate_limited" && (hold.until ?? 0) > Date.now());
		const asked = this.panel && this.panel.until > Date.now() ? this.panel.lines : undefined;
		const gap: Line[] = (process.stdout.rows ?? 24) >= 28 ? [[]] : [];
		this.draw([
			...TITLE,
			...gap,
			[[`${clock(Date.now())}  running ${status.running} of ${status.max_concurrent}: ${lanes.join(", ")}`, "bold"]],
			limited ? ["Held: ", [`${limited.scope}, rate limited until ${clock(limited.until ?? 0)}`, "yellow"]] : [["Held: nothing", "dim"]],
			...gap,
			...jobs.map((job) => jobLine(job, reasons.get(job.id) ?? [])),
			...gap,
			...(asked ?? ([[["What happened", "bold"]], ...this.heard.slice(-4)] satisfies Line[])).slice(0, 5),
		]);
	}

	/** Takes the screen away again. */
	clear(): void {
		if (this.height > 0) process.stdout.write(`\x1b[${this.height}A\x1b[J`);
		this.height = 0;
	}

	private draw(lines: Line[]): void {
		const up = this.height > 0 ? `\x1b[${this.height}A` : "";
		process.stdout.write(`${up}${lines.map((line) => `${paint(line, width())}\x1b[K\n`).join("")}\x1b[J`);
		this.height = lines.length;
	}
}

/** One line for each thing that happens. */
class PlainScreen {
	constructor() {
		print(...TITLE, []);
	}

	say(line: Line): void {
		print(line);
	}

	showWhy(lines: Line[]): void {
		print([], ...lines, []);
	}

	async frame(): Promise<void> {}

	clear(): void {
		print([]);
	}
}

const label = (job: JobView) => `${String(job.id).padStart(3)} ${(job.name ?? "").padEnd(10)} ${job.lane.padEnd(7)}`;

function jobLine(job: JobView, reasons: Reason[]): Line {
	const about = label(job);
	if (job.run)
		return [
			about,
			["running    ", "cyan"],
			`${seconds(Date.now() - job.run.started_at)}${job.attempt > 1 ? `, attempt ${job.attempt}` : ""}`,
		];
	if (job.ended_at !== undefined)
		return [about, [job.status, job.status === "succeeded" ? "green" : "red"], [`  at ${clock(job.ended_at)}`, "dim"]];
	const [first] = reasons;
	if (!first) return [about, "waiting"];
	const rest = reasons.length > 1 ? ` (and ${reasons.length - 1} more)` : "";
	return [[about, "dim"], ["waiting    ", "yellow"], `${first.code}: ${reasonWords(first)}${rest}`];
}

// ---- the summary ----------------------------------------------------------------------------------------------------------------------

type Span = { from: number; to: number; failed: boolean };

const runsOf = (history: EventRow[]): Span[] => {
	const runs: Span[] = [];
	for (const { kind, at, data } of history) {
		if (kind === "started") runs.push({ from: at, to: at, failed: false });
		const last = runs.at(-1);
		if (last && (kind === "requeued" || kind === "ended"))
			Object.assign(last, { to: at, failed: kind === "requeued" || data.to !== "succeeded" });
	}
	return runs;
};

/** `.` from added to ended, `=` while a run was alive, `x` where one failed. */
function bar(job: JobView, runs: Span[], end: number, cells: number): string {
	const cell = (at: number) => Math.min(cells - 1, Math.max(0, Math.floor(((at - began) / (end - began)) * cells)));
	const out: string[] = Array.from({ length: cells }, (_, at) =>
		at >= cell(job.created_at) && at <= cell(job.ended_at ?? end) ? "." : " ",
	);
	for (const { from, to, failed } of runs) {
		out.fill("=", cell(from), cell(to) + 1);
		if (failed) out[cell(to)] = "x";
	}
	return out.join("").trimEnd();
}

type Told = { job: JobView; history: EventRow[] };

const readAll = async (sluice: Scheduler): Promise<Told[]> =>
	Promise.all((await sluice.list({ all: true, batch: BATCH })).map(async (job) => ({ job, history: await sluice.history(job.id) })));

function summary(all: Told[]): Line[] {
	const end = Math.max(...all.map(({ job }) => job.ended_at ?? 0));
	const cells = Math.max(10, Math.min(60, width() - 47));
	const counts = new Map<string, number>();
	let [starts, retries] = [0, 0];
	const rows = all.map(({ job, history }): Line => {
		const runs = runsOf(history);
		const ran = runs.reduce((sum, run) => sum + run.to - run.from, 0);
		const waited = (job.ended_at ?? end) - job.created_at - ran;
		counts.set(job.status, (counts.get(job.status) ?? 0) + 1);
		starts += runs.length;
		retries += runs.length - 1;
		return [
			label(job),
			`${String(runs.length).padStart(6)}${seconds(waited).padStart(8)}${seconds(ran).padStart(8)}  `,
			[bar(job, runs, end, cells), "cyan"],
		];
	});
	return [
		[
			[" id job        lane   starts  waited     ran  ", "bold"],
			[`0 s${clock(end).padStart(cells - 3)}`, "dim"],
		],
		...rows,
		[[`${" ".repeat(46)}. waiting  = running  x failed`, "dim"]],
		[],
		[["Jobs     ", "bold"], [...counts].map(([status, count]) => `${count} ${status}`).join(", ")],
		[["Starts   ", "bold"], `${starts}, of which ${retries} ${retries === 1 ? "was a retry" : "were retries"}`],
	];
}

// ---- the run --------------------------------------------------------------------------------------------------------------------------

async function main(): Promise<void> {
	const folder = mkdtempSync(join(tmpdir(), "sluice-demo-"));
	process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
	for (const [signal, code] of [
		["SIGINT", 130],
		["SIGTERM", 143],
		["SIGHUP", 129],
	] as const)
		process.once(signal, () => process.exit(code));
	process.stdout.on("error", () => process.exit(1));

	const path = join(folder, "demo.db");
	const sluice = await openScheduler({ path, config: CONFIG, by: "demo" });
	const screen = isLive ? new LiveScreen(sluice) : new PlainScreen();
	began = Date.now();
	const { names: ids } = await sluice.apply({ batch: BATCH, jobs: STORY.map(({ does, ...job }) => ({ ...job, payload: does })) });
	for (const [name, id] of Object.entries(ids)) names.set(id, name);
	const workers = Object.keys(LANES).map((lane) => sluice.work(lane, (claimed) => act(sluice, claimed), { concurrency: 4 }));

	let why: Line[] = [];
	const react = async ({ kind, job }: EventRow) => {
		if (kind === "limited") {
			why = await whyWords(sluice, ids[ASKED] as number);
			screen.showWhy(why);
		}
		if (kind === "ended" && job === ids.review) {
			await sleep(APPROVAL_MS);
			await sluice.approve(ids.merge as number, { by: "ann" });
		}
	};
	// Times on the screen go on between two events.
	let frame: Promise<void> | undefined;
	const pulse = setInterval(() => {
		frame ??= screen
			.frame()
			.catch(fail)
			.finally(() => {
				frame = undefined;
			});
	}, 100);
	const overdue = setTimeout(() => fail(new Error("the demo should have ended long ago")), 60_000);
	for await (const event of sluice.events()) {
		const words = eventWords(event);
		if (words) screen.say([[clock(event.at).padStart(7), "dim"], "  ", ...words]);
		react(event).catch(fail);
		if (event.kind === "batch_closed") break;
	}
	clearInterval(pulse);
	clearTimeout(overdue);
	await frame;
	await Promise.all(workers.map((worker) => worker.stop()));
	await screen.frame();
	const before = await readAll(sluice);
	await sluice.close();

	const again = await openScheduler({ path, config: CONFIG, by: "demo" });
	const after = await readAll(again);
	await again.close();
	if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error("the file that was opened again tells another story");
	if (after.some(({ job }) => job.status !== "succeeded")) throw new Error("not every job succeeded");

	screen.clear();
	const events = after.reduce((sum, { history }) => sum + history.length, 0);
	print(
		...(isLive ? [...TITLE, []] : []),
		...summary(after),
		[["Durable  ", "bold"], `the file was closed and opened again: ${after.length} jobs, ${events} events, all the same`],
		...(isLive ? [[], ...why] : []),
	);
}

function fail(error: unknown): never {
	console.error(error);
	process.exit(1);
}

await main().catch(fail);
