// sluice top: the live screen. Draws on the alternate screen, and only lines that have changed.

import type { Call } from "../../command.ts";
import { EXIT, failureOf, usage } from "../../failure.ts";
import type { Io } from "../../io.ts";
import { hasEnded } from "../../printing/job-lines.ts";
import { withLockWords } from "../../printing/lock-words.ts";
import { tame } from "../../printing/sequences.ts";
import { carryOut } from "../../top/acts.ts";
import { draw } from "../../top/draw.ts";
import { leaves, press } from "../../top/keys.ts";
import { createLogReader } from "../../top/log-pane.ts";
import { freshState, inOrder, keepSelection, listed, needsOf, type TopState } from "../../top/state.ts";

const EVERY_MS = 1000;
const MAX_JOBS = 1000;
/** Maximum ended jobs that stay visible, and how many are shown of those that had ended before. */
const ENDED_JOBS = 30;
const ENDED_BEFORE = 10;
/** Jobs whose place in the order of starts is shown. */
const MAX_PLACES = 1000;

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

async function live(io: Io, keys: NonNullable<Io["world"]["keys"]>): Promise<number> {
	const state = freshState(io.world.now());
	const screen = createScreen(io);
	const inputs = listen(io, keys, screen.forget);
	const readLog = createLogReader(io);
	const noteFailure = (error: unknown) => {
		const { message, hint } = failureOf(error);
		state.note = hint === undefined ? message : `${message} (${hint})`;
	};
	const renew = async () => {
		await refresh(io, state);
		await readLog(state);
	};
	try {
		for (;;) {
			// A daemon that has gone is retried for some seconds: the keys that quit must not have to wait for that.
			await Promise.race([renew().catch(noteFailure), inputs.leaves()]);
			screen.paint(state);
			const { stopped, pressed } = await inputs.next();
			if (stopped !== undefined) return stopped;
			for (const key of pressed) {
				const act = press(state, key);
				if (act?.do === "quit") return EXIT.done;
				if (act?.do === "interrupt") return EXIT.interrupted;
				if (act) await carryOut(io, state, act).catch(noteFailure);
				screen.paint(state);
			}
		}
	} finally {
		inputs.stop();
	}
}

/** Writes only the lines that have changed since the last painting; after `forget` all of them. */
function createScreen({ world, print }: Io): { paint(state: TopState): void; forget(): void } {
	let before: string[] = [];
	return {
		paint(state) {
			const size = { columns: world.stdout.columns ?? 80, rows: world.stdout.rows ?? 24 };
			const lines = draw({ ...state, now: world.now() }, size, print.paint).map((line) => tame(line, "keep"));
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
			if (leaves(key)) leave();
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
		/** Resolves at a key that may quit, or a signal. */
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

async function refresh(io: Io, state: TopState): Promise<void> {
	const isFirst = state.status === undefined;
	const [status, list, queue] = await Promise.all([
		io.ask("scheduler.status"),
		io.ask("job.list", { limit: MAX_JOBS }),
		// An older daemon does not know the order.
		io.ask("job.queue", { limit: MAX_PLACES }).catch(() => ({ jobs: [] })),
	]);
	const active = await withLockWords(io, list.jobs);
	const there = new Set(active.map(({ id }) => id));
	const before = listed(state);
	const left = state.jobs.filter((job) => !there.has(job.id) && !hasEnded(job)).slice(0, ENDED_JOBS);
	const wanted = [...left.map(({ id }) => id), ...(status.unmerged ?? []).map(({ job }) => job)];
	const shown = wanted.length === 0 ? [] : (await io.ask("job.list", { ids: wanted })).jobs;
	const recent = isFirst ? (await io.ask("job.list", { recent: ENDED_BEFORE })).jobs : [];
	const known = new Map([...state.jobs.filter(hasEnded), ...recent, ...shown].map((job) => [job.id, job]));
	const ended = [...known.values()].filter(({ id }) => !there.has(id));
	state.status = status;
	state.needs = needsOf(status, ended);
	const order = queue.jobs.map(({ id }) => id);
	const jobs = inOrder([...active, ...ended], state.needs, order);
	state.jobs = [
		...jobs.filter((job) => !hasEnded(job) || state.needs.has(job.id)),
		...jobs.filter((job) => hasEnded(job) && !state.needs.has(job.id)).slice(0, ENDED_JOBS),
	];
	keepSelection(state, before);
}
