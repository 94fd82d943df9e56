// The shims that run programs for us: a few that are used again and again, and a launcher that starts more of them when all are busy.

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { SluiceError } from "../../core/errors.ts";
import type { Launch, Sighting } from "../../processes.ts";
import type { Programs } from "./programs.ts";
import { launchText, runText } from "./shim.ts";

/*
 * Starting a process from Node costs in proportion to our memory (0.9 ms at 51 MB, 18 ms at 551 MB) and stops the loop meanwhile; writing a line to a shim
 * that is already there costs a twentieth of the smaller one. A shim that has done its run takes the next. Long runs keep their shims, so beyond REUSED
 * of them the launcher starts one for a single run. All are sessions of their own, read what to do from a pipe, and end when the pipe does: after our death
 * each still finishes what it has.
 */
const REUSED = 16;
/** How often a run is handed over again because its shim died before making the marker. */
const TRIES = 3;

type Shim = { id: string; child: ChildProcess; launch: Launch | null };

export type Shims = {
	hand(launch: Launch): Promise<void>;
	/** From the FIFO. */
	heard(line: string): void;
	/** A look has found that a run has started. */
	started(run: string): void;
	/** A look has found the end of a run, perhaps before the news. */
	ended(run: string): void;
	close(): Promise<void>;
};

export function openShims(parts: {
	programs: Programs;
	prelude: string;
	look: (dir: string) => Sighting;
	/** Keeps an attempt from ever starting, and writes down why it did not. */
	giveUp: (dir: string, why: string) => void;
	tell: (run: string) => void;
}): Shims {
	const { programs, prelude, look, giveUp, tell } = parts;
	const tag = randomBytes(4).toString("hex");
	const shims = new Map<string, Shim>();
	const busy = new Map<string, Shim>();
	const idle: Shim[] = [];
	/** Handed to the launcher, and not seen yet. */
	const handed = new Map<string, Launch>();
	const tries = new WeakMap<Launch, number>();
	let launcher: ChildProcess | null = null;
	let count = 0;
	let closed = false;

	/** At once, so that what is counted is true for the next call of the same turn. */
	function startSh(): ChildProcess {
		// Detached: a session of its own, out of reach of our terminal. Node resets all signals for it.
		const child = spawn(programs.sh, [], { cwd: "/", env: {}, stdio: ["pipe", "ignore", "ignore"], detached: true });
		child.on("error", () => {});
		// Broken pipe: its exit tells the same.
		child.stdin?.on("error", () => {});
		child.unref();
		return child;
	}

	async function mustLive(child: ChildProcess): Promise<void> {
		if (child.pid !== undefined) return;
		const [cause] = (await once(child, "error")) as [Error];
		throw new Error(`cannot start ${programs.sh}: ${cause.message}`, { cause });
	}

	function newShim(): Shim {
		const shim: Shim = { id: `${tag}-${++count}`, child: startSh(), launch: null };
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

	/** Whoever was to run it is dead. The marker says whether it got that far; if so, the folder tells the rest. */
	function again(launch: Launch): void {
		if (closed) return;
		const failed = (error: unknown) => {
			try {
				giveUp(launch.dir, `no shim lived long enough to start it${error instanceof Error ? `: ${error.message}` : ""}`);
			} catch {
				// A folder that cannot be written to. The look that this news asks for finds the same.
			}
			tell(launch.run);
		};
		const count = (tries.get(launch) ?? 0) + 1;
		tries.set(launch, count);
		if (look(launch.dir).state !== "unstarted") tell(launch.run);
		else if (count < TRIES) hand(launch).catch(failed);
		else failed(null);
	}

	async function hand(launch: Launch): Promise<void> {
		if (closed) throw new SluiceError("closed", "the process layer was closed");
		const shim = idle.pop() ?? (shims.size < REUSED || !programs.setsidForks ? newShim() : null);
		if (!shim) return handToLauncher(launch);
		if (shim.child.pid === undefined) return mustLive(shim.child);
		shim.launch = launch;
		busy.set(launch.run, shim);
		shim.child.stdin?.write(runText(launch, programs, shim.id));
	}

	async function handToLauncher(launch: Launch): Promise<void> {
		if (!launcher) {
			const child = startSh();
			if (child.pid === undefined) return mustLive(child);
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
		if (idle.length < REUSED) idle.push(shim);
		else shim.child.stdin?.end();
	}

	return {
		hand,
		heard(line) {
			const [kind, run, id] = line.split(" ");
			if (!run) return;
			handed.delete(run);
			const shim = shims.get(id ?? "");
			if (shim) free(shim, run);
			// Shims of an earlier version tell of starts, too.
			if (kind === "exited") tell(run);
		},
		started: (run) => void handed.delete(run),
		ended(run) {
			handed.delete(run);
			const shim = busy.get(run);
			if (shim) free(shim, run);
		},
		async close() {
			closed = true;
			const leaving = [...idle, ...(launcher ? [{ child: launcher }] : [])].filter(
				({ child }) => child.exitCode === null && child.signalCode === null,
			);
			const gone = leaving.map(({ child }) => once(child, "exit"));
			for (const { child } of [...shims.values(), ...(launcher ? [{ child: launcher }] : [])]) child.stdin?.end();
			await Promise.all(gone);
		},
	};
}
