// What is seen while it happens: on a terminal a picture that is drawn over itself, elsewhere a line for each thing that happens.

import type { JobDocument } from "../../src/api/documents.ts";
import type { Board } from "./board.ts";
import { clock, isLive, type Line, paint, print, seconds } from "./paint.ts";
import { isAlive } from "./session.ts";
import { LANES } from "./story.ts";

export const TITLE: Line[] = [
	[["Sluice demo", "bold"], ": a daemon in a temporary home runs twelve jobs, as real processes."],
	["Look for a lock, a cap, a cancel, a retry, an approval, and the daemon's death."],
];

export type Screen = {
	/** Something happened. */
	say(line: Line): void;
	/** An explanation that should stay in sight for a while. */
	panel(lines: Line[]): void;
	/** The daemon's state, when it is not simply up. */
	alarm(text: string | undefined): void;
	frame(): Promise<void>;
	/** Takes the picture away again. */
	clear(): void;
};

export const openScreen = (board: Board): Screen => (isLive ? new LiveScreen(board) : new PlainScreen());

/** Events that are seen at once, at the bottom. */
const HEARD = 5;
const PANEL_MS = 2300;

class LiveScreen implements Screen {
	private height = 0;
	private readonly heard: Line[] = [];
	private shown: { lines: Line[]; until: number } | undefined;
	private danger: string | undefined;

	constructor(private readonly board: Board) {
		process.stdout.write("\x1b[?25l");
		process.once("exit", () => process.stdout.write("\x1b[?25h"));
		process.stdout.on("resize", () => {
			process.stdout.write("\x1b[2J\x1b[H");
			this.height = 0;
		});
	}

	say(line: Line): void {
		this.heard.push([[`${clock(Date.now()).padStart(7)}  `, "dim"], ...line]);
	}

	panel(lines: Line[]): void {
		this.shown = { lines, until: Date.now() + PANEL_MS };
	}

	alarm(text: string | undefined): void {
		this.danger = text;
	}

	async frame(): Promise<void> {
		await this.board.refresh();
		const { status, jobs, session } = this.board;
		const lanes = Object.entries(LANES).map(([name, max]): [string, number, number] => [name, status?.lanes[name]?.running ?? 0, max]);
		const head: Line = this.danger
			? [[` ${this.danger} `, "alarm"]]
			: [
					["daemon up", "green"],
					`, pid ${session.pid}   `,
					...lanes.flatMap(
						([name, running, max]): Line => [
							`${name} `,
							["■".repeat(running), "cyan"],
							["□".repeat(Math.max(0, max - running)), "dim"],
							` ${running} of ${max}   `,
						],
					),
				];
		const asked = this.shown && this.shown.until > Date.now() ? this.shown.lines : undefined;
		const gap: Line[] = (process.stdout.rows ?? 24) >= 26 ? [[]] : [];
		this.draw([
			...TITLE,
			...gap,
			[[`${clock(Date.now()).padStart(7)}  `, "bold"], ...head],
			...gap,
			...jobs.map((job) => jobLine(this.board, job, this.danger !== undefined)),
			[],
			...(asked ?? this.heard.slice(-HEARD)).slice(0, HEARD),
		]);
	}

	clear(): void {
		if (this.height > 0) process.stdout.write(`\x1b[${this.height}A\x1b[J`);
		this.height = 0;
	}

	private draw(lines: Line[]): void {
		const up = this.height > 0 ? `\x1b[${this.height}A` : "";
		process.stdout.write(`${up}${lines.map((line) => `${paint(line)}\x1b[K\n`).join("")}\x1b[J`);
		this.height = lines.length;
	}
}

class PlainScreen implements Screen {
	constructor() {
		print(...TITLE, []);
	}

	say(line: Line): void {
		print([`${clock(Date.now()).padStart(7)}  `, ...line]);
	}

	panel(lines: Line[]): void {
		print([], ...lines.map((line): Line => ["         ", ...line]), []);
	}

	alarm(): void {}

	async frame(): Promise<void> {}

	clear(): void {
		print([]);
	}
}

export const label = (job: JobDocument): string => `${String(job.id).padStart(3)} ${(job.name ?? "").padEnd(8)} ${job.lane.padEnd(7)}`;

function jobLine(board: Board, job: JobDocument, orphaned: boolean): Line {
	const about = label(job);
	if (job.run) {
		const said = board.said(job);
		const again = job.attempt > 1 ? `attempt ${job.attempt}, ` : "";
		const gone = orphaned && said && !isAlive(said.pid);
		const word = job.run.stop ? "stopping" : gone ? "gone" : orphaned ? "goes on" : "running";
		const state: Line[number] = [word.padEnd(9), job.run.stop ? "yellow" : gone ? "dim" : orphaned ? "bold" : "cyan"];
		const time = seconds(Date.now() - Date.parse(job.run.started_at)).padStart(6);
		return [about, state, `${time}  `, [`pid ${String(said?.pid ?? "").padEnd(8)}`, "dim"], `${again}${said?.text ?? ""}`];
	}
	if (job.ended_at !== null) {
		const style = job.status === "succeeded" ? "green" : job.status === "cancelled" ? "yellow" : "red";
		return [about, [job.status.padEnd(10), style], [`at ${clock(Date.parse(job.ended_at))}`, "dim"]];
	}
	const reasons = board.reasonsOf(job);
	const [first] = reasons;
	if (!first) return [[`${about}waits`, "dim"]];
	const rest = reasons.length > 1 ? ` (and ${reasons.length - 1} more)` : "";
	return [
		[about, "dim"],
		["waits    ", "yellow"],
		[`${board.reasonWords(first)}${rest}`, "dim"],
	];
}
