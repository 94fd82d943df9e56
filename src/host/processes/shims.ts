// The shims that run programs: a pool that is reused, and a launcher that starts further shims when the pool is busy.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { getPriority, setPriority } from "node:os";
import type { Launch } from "../../contracts/processes.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Sighting } from "../../core/runs/sighting.ts";
import type { Programs } from "./programs.ts";
import { launchText, runText } from "./shim.ts";

/*
 * Starting a process from Node takes time in proportion to the daemon's memory (0.9 ms at 51 MB, 18 ms at 551 MB) and blocks the event loop meanwhile; writing
 * to the pipe of an existing shim takes a twentieth of the smaller figure. A shim that has finished its run takes the next. Long runs occupy their shims, so
 * beyond MAX_REUSED_SHIMS of them the launcher starts a shim for a single run. Every shim has its own session, reads commands from a pipe and ends when the pipe closes:
 * after the daemon's death, each still finishes the run it has.
 */
const MAX_REUSED_SHIMS = 16;
/** How often a run is handed over to another shim because its shim died before creating the marker. */
const MAX_HANDOVERS = 3;
/** The lowest priority that there is. */
const NICEST = 19;

type Shim = { id: string; child: ChildProcess; launch: Launch | null };

/** Starts the process synchronously, so that the number of shims is right for the next call in the same turn of the event loop. */
function startSh({ sh }: Programs, nice: number): ChildProcess {
	// Detached: the shim gets its own session, out of reach of the daemon's terminal. Node resets all signal handlers for it.
	const child = spawn(sh, [], { cwd: "/", env: {}, stdio: ["pipe", "ignore", "ignore"], detached: true });
	child.on("error", () => {});
	// Broken pipe: the handler of the child's exit deals with it.
	child.stdin?.on("error", () => {});
	child.unref();
	if (nice > 0 && child.pid !== undefined) lowerPriority(child.pid, nice);
	return child;
}

/** Below the daemon's own. What the shim starts inherits it, further shims of the launcher too. */
function lowerPriority(pid: number, nice: number): void {
	try {
		setPriority(pid, Math.min(NICEST, getPriority() + nice));
	} catch {
		// The shim has died already: the handler of its exit deals with it.
	}
}

/** Throws why a child without a pid could not be started. */
async function refuse(child: ChildProcess, { sh }: Programs): Promise<never> {
	const [cause] = (await once(child, "error")) as [Error];
	throw new Error(`cannot start ${sh}: ${cause.message}`, { cause });
}

type ShimParts = {
	programs: Programs;
	prelude: string;
	/** How much nicer runs are than the daemon. */
	nice: number;
	look: (dir: string) => Sighting;
	/** Prevents an attempt from ever starting and records why it did not. */
	giveUp: (dir: string, why: string) => void;
	exited: (run: string) => void;
};

export function openShims({ programs, prelude, nice, look, giveUp, exited }: ShimParts) {
	const tag = randomBytes(4).toString("hex");
	const shims = new Map<string, Shim>();
	const busy = new Map<string, Shim>();
	const idle: Shim[] = [];
	/** Runs that were handed to the launcher and have not been seen to start yet. */
	const handed = new Map<string, Launch>();
	const tries = new WeakMap<Launch, number>();
	let launcher: ChildProcess | null = null;
	let count = 0;
	let closed = false;

	function newShim(): Shim {
		const shim: Shim = { id: `${tag}-${++count}`, child: startSh(programs, nice), launch: null };
		if (shim.child.pid === undefined) return shim;
		shims.set(shim.id, shim);
		shim.child.once("exit", () => {
			shims.delete(shim.id);
			const at = idle.indexOf(shim);
			if (at >= 0) idle.splice(at, 1);
			const { launch } = shim;
			if (!launch) return;
			if (busy.get(launch.run) === shim) busy.delete(launch.run);
			again(launch);
		});
		shim.child.stdin?.write(prelude);
		return shim;
	}

	/** The shim that had the run is dead. If the marker exists, the run has started, and its folder says the rest; otherwise hand it over again. */
	function again(launch: Launch): void {
		if (closed) return;
		const failed = (error: unknown) => {
			try {
				giveUp(launch.dir, `no shim lived long enough to start it${error instanceof Error ? `: ${error.message}` : ""}`);
			} catch {
				// The run's folder cannot be written. The caller meets the same error when it looks at the run.
			}
			exited(launch.run);
		};
		const count = (tries.get(launch) ?? 0) + 1;
		tries.set(launch, count);
		if (look(launch.dir).state !== "unstarted") exited(launch.run);
		else if (count < MAX_HANDOVERS) hand(launch).catch(failed);
		else failed(null);
	}

	async function hand(launch: Launch): Promise<void> {
		if (closed) throw new SluiceError("closed", "the process layer was closed");
		const shim = idle.pop() ?? (shims.size < MAX_REUSED_SHIMS || !programs.setsidForks ? newShim() : null);
		if (!shim) return handToLauncher(launch);
		if (shim.child.pid === undefined) return refuse(shim.child, programs);
		shim.launch = launch;
		busy.set(launch.run, shim);
		shim.child.stdin?.write(runText(launch, programs, shim.id));
	}

	async function handToLauncher(launch: Launch): Promise<void> {
		if (!launcher) {
			const child = startSh(programs, nice);
			if (child.pid === undefined) return refuse(child, programs);
			child.once("exit", () => {
				if (launcher === child) launcher = null;
				const lost = [...handed.values()];
				handed.clear();
				for (const launch of lost) again(launch);
			});
			launcher = child;
		}
		handed.set(launch.run, launch);
		launcher.stdin?.write(launchText(prelude + runText(launch, programs, "-"), programs, `SLUICE_${randomBytes(16).toString("hex")}`));
	}

	function free(shim: Shim, run: string): void {
		if (shim.launch?.run !== run) return;
		shim.launch = null;
		if (busy.get(run) === shim) busy.delete(run);
		if (idle.length < MAX_REUSED_SHIMS) idle.push(shim);
		else shim.child.stdin?.end();
	}

	return {
		hand,
		/** Takes a line from the FIFO. */
		heard(line: string): void {
			const [kind, run, id] = line.split(" ");
			if (!run) return;
			handed.delete(run);
			const shim = shims.get(id ?? "");
			if (shim) free(shim, run);
			// Only exits are reported: shims of an earlier version also report starts.
			if (kind === "exited") exited(run);
		},
		/** The caller has seen that the run has started. */
		started: (run: string) => void handed.delete(run),
		/** The caller has seen the end of the run, perhaps before the FIFO reported it. */
		ended(run: string): void {
			handed.delete(run);
			const shim = busy.get(run);
			if (shim) free(shim, run);
		},
		async close(): Promise<void> {
			closed = true;
			const own = launcher ? [{ child: launcher }] : [];
			const leaving = [...idle, ...own].filter(({ child }) => child.exitCode === null && child.signalCode === null);
			const gone = leaving.map(({ child }) => once(child, "exit"));
			for (const { child } of [...shims.values(), ...own]) child.stdin?.end();
			await Promise.all(gone);
		},
	};
}
