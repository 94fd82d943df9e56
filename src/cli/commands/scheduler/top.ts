// sluice top: the live screen. Draws on the alternate screen, and only lines that have changed.

import type { Call } from "../../command.ts";
import { EXIT, failureOf, usage } from "../../failure.ts";
import type { Io } from "../../io.ts";
import { hasEnded, labelOf } from "../../printing/job-lines.ts";
import { withLockWords } from "../../printing/lock-words.ts";
import { draw, inOrder, moved, type ScreenView } from "../../printing/screen.ts";
import { tame } from "../../printing/sequences.ts";
import { explained } from "../job/why.ts";

const EVERY_MS = 1000;
const MAX_JOBS = 1000;
/** Maximum ended jobs that stay visible. */
const ENDED_JOBS = 30;

/** q, Escape, Ctrl-C. */
const LEAVES: ReadonlySet<string> = new Set(["q", "\u001b", "\u0003"]);

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[2J";
const LEAVE = "\u001b[?25h\u001b[?1049l";

export async function run(_call: Call, io: Io): Promise<number> {
	const { stdin, stdout } = io.world;
	if (!stdout.isTTY || !stdin.isTTY || !io.world.keys) throw usage("top needs a terminal", "sluice status --watch does without one");
	if (io.json) throw usage("top has no --json", "sluice status --json has the numbers");
	// The first request starts the daemon if necessary; an error at that point is printed on the normal screen.
	await io.ask("scheduler.status");
	stdout.write(ENTER);
	try {
		return await live(io, io.world.keys);
	} finally {
		stdout.write(LEAVE);
	}
}

type Top = {
	view: ScreenView;
	/** The job that a person is asked about: cancel it? */
	asking: number | undefined;
};

async function live(io: Io, keys: NonNullable<Io["world"]["keys"]>): Promise<number> {
	const { world } = io;
	const view: ScreenView = { status: undefined, jobs: [], selected: undefined, cover: undefined, note: undefined, now: world.now() };
	const top: Top = { view, asking: undefined };
	const screen = createScreen(io);
	const inputs = listen(io, keys, screen.forget);
	const noteFailure = (error: unknown) => {
		view.note = failureOf(error).message;
	};
	try {
		for (;;) {
			// A daemon that has gone is retried for some seconds: the keys that quit must not have to wait for that.
			await Promise.race([refresh(io, view).catch(noteFailure), inputs.leaves()]);
			screen.paint(view);
			const { stopped, pressed } = await inputs.next();
			if (stopped !== undefined) return stopped;
			for (const key of pressed) {
				try {
					const code = await press(io, top, key);
					if (code !== undefined) return code;
				} catch (error) {
					noteFailure(error);
				}
				screen.paint(view);
			}
		}
	} finally {
		inputs.stop();
	}
}

/** Writes only the lines that have changed since the last painting; after `forget` all of them. */
function createScreen({ world, print }: Io): { paint(view: ScreenView): void; forget(): void } {
	let before: string[] = [];
	return {
		paint(view) {
			const size = { columns: world.stdout.columns ?? 80, rows: world.stdout.rows ?? 24 };
			const lines = draw({ ...view, now: world.now() }, size, print.paint).map((line) => tame(line, "keep"));
			const all = before.length !== lines.length;
			const changes = lines.flatMap((line, row) => (all || before[row] !== line ? [`\u001b[${row + 1};1H\u001b[2K${line}`] : []));
			if (changes.length > 0) world.stdout.write(changes.join(""));
			before = lines;
		},
		forget: () => {
			before = [];
		},
	};
}

/** Keys, changes of the screen's size, and signals, as they come. */
function listen({ world }: Io, keys: NonNullable<Io["world"]["keys"]>, resized: () => void) {
	let pressed: string[] = [];
	let stopped: number | undefined;
	let wake = () => {};
	let leave = () => {};
	const stops = [
		keys((key) => {
			pressed.push(key);
			if (LEAVES.has(key)) leave();
			wake();
		}),
		world.onResize?.(() => {
			resized();
			wake();
		}),
		world.onSignal?.((code) => {
			stopped = code;
			leave();
			wake();
		}),
	];
	return {
		/** Resolves at a key that quits, or a signal. */
		leaves: () => new Promise<void>((resolve) => (leave = resolve)),
		/** Resolves at the next input, or when it is time to refresh the screen. */
		async next(): Promise<{ pressed: string[]; stopped: number | undefined }> {
			if (pressed.length === 0 && stopped === undefined)
				await new Promise<void>((resolve) => {
					const stop = world.after(EVERY_MS, resolve);
					wake = () => {
						stop();
						resolve();
					};
				});
			const taken = { pressed, stopped };
			pressed = [];
			return taken;
		},
		stop: () => {
			for (const stop of stops) stop?.();
		},
	};
}

/** By how many rows a key moves the selection; g and G go to the first and to the last row. */
const STEPS: Record<string, number> = { j: 1, "\u001b[B": 1, k: -1, "\u001b[A": -1, "\u001b[6~": 10, "\u001b[5~": -10, g: -1e9, G: 1e9 };

/** Returns an exit code when the key ends the program. */
async function press(io: Io, top: Top, key: string): Promise<number | undefined> {
	const { view } = top;
	if (key === "\u0003") return EXIT.interrupted;
	if (top.asking !== undefined) {
		view.note = key === "y" ? await cancel(io, top.asking) : "not cancelled";
		top.asking = undefined;
		return undefined;
	}
	view.note = undefined;
	if (view.cover) {
		view.cover = undefined;
		return undefined;
	}
	const step = STEPS[key];
	if (step !== undefined) view.selected = moved(view.jobs, view.selected, step);
	else if (key === "q" || key === "\u001b") return EXIT.done;
	else if (key === "p") view.note = await togglePause(io, view.status?.paused === true);
	else if (key === "w" && view.selected !== undefined) view.cover = await explained(await io.ask("job.why", { id: view.selected }), io);
	else if (key === "c" && view.selected !== undefined) {
		const job = view.jobs.find(({ id }) => id === view.selected);
		if (job && hasEnded(job)) view.note = `${labelOf(job)} has ended`;
		else if (job) {
			top.asking = job.id;
			view.note = `cancel ${labelOf(job)}? y or n`;
		}
	}
	return undefined;
}

async function refresh(io: Io, view: ScreenView): Promise<void> {
	const [status, list] = await Promise.all([io.ask("scheduler.status"), io.ask("job.list", { limit: MAX_JOBS })]);
	const active = await withLockWords(io, list.jobs);
	const there = new Set(active.map(({ id }) => id));
	const left = view.jobs.filter((job) => !there.has(job.id) && !hasEnded(job)).slice(0, ENDED_JOBS);
	const shown = await Promise.all(left.map(({ id }) => io.ask("job.show", { id }).catch(() => undefined)));
	const ended = [...shown.flatMap((one) => (one ? [one.job] : [])), ...view.jobs.filter((job) => hasEnded(job) && !there.has(job.id))];
	view.status = status;
	view.jobs = inOrder([...active, ...ended.slice(0, ENDED_JOBS)]);
	if (!view.jobs.some(({ id }) => id === view.selected)) view.selected = view.jobs[0]?.id;
}

async function togglePause(io: Io, paused: boolean): Promise<string> {
	await (paused ? io.ask("scheduler.resume") : io.ask("scheduler.pause"));
	return paused ? "resumed" : "paused; what runs goes on";
}

async function cancel(io: Io, id: number): Promise<string> {
	const { requested } = await io.ask("job.cancel", { ids: [id] });
	return requested.includes(id) ? `job ${id} is asked to stop` : `job ${id} is cancelled`;
}
