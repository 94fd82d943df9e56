// Notices that no command can reach this daemon any more, because its home was deleted or moved, or its lock or socket is gone or belongs to another daemon.
//
//   seen twice, a second apart                         loss           the runs
//   the home or its content is deleted                 deleted        are stopped: the store, the logs and the worktrees are gone with the home, so no
//                                                                     daemon will ever find these runs again, and no command can show or stop them
//   the home is elsewhere; or lock.db is another file  moved          are left to their shims: the next daemon of that home finds them
//   only the socket is gone, or another file           unreachable    are left to their shims: the next command starts a daemon that finds them
//
// Twice, because `rm -rf` takes a moment: it may delete the lock before the rest.

import { closeSync, existsSync, fstatSync, openSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Host } from "../../contracts/host.ts";
import type { Processes } from "../../contracts/processes.ts";

const LOOK_MS = 1000;

export type HomeLoss = "deleted" | "moved" | "unreachable";
type Places = { home: string; lock: string; socket: string };

/** Empty when there is nothing, or when it cannot be read. */
const identityOf = (path: string): string => {
	try {
		const { dev, ino } = statSync(path, { bigint: true });
		return `${dev}:${ino}`;
	} catch {
		return "";
	}
};

/** Calls `lost` once. Returns a function that ends the watch. */
export function watchHome({ home, lock, socket }: Places, host: Pick<Host, "after">, lost: (loss: HomeLoss) => void): () => void {
	// The folder is kept open, because its link count distinguishes a deleted folder from a moved one. The lock itself must not be opened: see lock.ts.
	const folder = openSync(home, "r");
	const before = { home: identityOf(home), lock: identityOf(lock), socket: identityOf(socket) };
	let cancel = () => {};

	function seen(): HomeLoss | null {
		const same = identityOf(home) === before.home;
		if (same && identityOf(lock) === before.lock) return identityOf(socket) === before.socket ? null : "unreachable";
		if (fstatSync(folder).nlink === 0 || (same && !existsSync(join(home, "runs")))) return "deleted";
		return "moved";
	}

	const look = (suspected: boolean) => {
		cancel = host.after(LOOK_MS, () => {
			const loss = seen();
			if (loss !== null && suspected) lost(loss);
			else look(loss !== null);
		});
	};
	look(false);
	return () => {
		cancel();
		closeSync(folder);
	};
}

const GRACE_MS = 5000;
const AGAIN_MS = 100;

/** Ends every process with one of these marks: SIGTERM first, SIGKILL after a grace period. Nothing is recorded, since the place for that is gone. */
export async function endMarked(processes: Processes, marks: readonly string[], host: Pick<Host, "after">): Promise<void> {
	const pause = () => new Promise<void>((resolve) => host.after(AGAIN_MS, resolve));
	const signal = (name: NodeJS.Signals) => {
		const found = processes.sweep(marks);
		for (const [mark, pids] of found) processes.signalAll(mark, pids, name);
		return [...found.values()].some((pids) => pids.length > 0);
	};
	if (marks.length === 0 || !signal("SIGTERM")) return;
	const isLeft = () => [...processes.sweep(marks).values()].some((pids) => pids.length > 0);
	for (let waited = 0; waited < GRACE_MS && isLeft(); waited += AGAIN_MS) await pause();
	for (let tries = 0; tries < GRACE_MS / AGAIN_MS && signal("SIGKILL"); tries++) await pause();
}
