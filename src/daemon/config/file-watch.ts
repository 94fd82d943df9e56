// Notices that a file has changed: by a watch, and by a look every few seconds.

import { type FSWatcher, statSync, watch } from "node:fs";
import type { Host } from "../../contracts/host.ts";

/** Interval of the check for changes that the watch misses: editors that replace the file, a file that comes back. */
const LOOK_MS = 2000;
/**
 * Editors write in several steps, so a text counts once two reads this far apart agree. A file that has just become empty may be about to be written, so it
 * is given EMPTY_MS.
 */
const CALM_MS = 30;
const EMPTY_MS = 1000;

type Parts = {
	path: string;
	host: Pick<Host, "after">;
	/** The text now; null if it cannot be read. */
	read: () => string | null;
	/** The file had a text and this one is empty. */
	isEmptied: (text: string | null) => boolean;
	/** Called once the text stays the same. */
	changed: () => Promise<void>;
};

/** The file itself is watched, not its folder: the folder changes with every commit of the database beside it. */
export function createFileWatch({ path, host, read, isEmptied, changed }: Parts): { start(): void; close(): void } {
	let watcher: FSWatcher | undefined;
	let watched = "";
	let stopLooking = () => {};
	let calm: (() => void) | undefined;
	let closed = false;

	function stirred(): void {
		calm ??= settle(undefined, 0);
	}
	function settle(before: string | null | undefined, waited: number): () => void {
		return host.after(CALM_MS, () => {
			if (closed) return;
			const text = read();
			if (text !== before || (isEmptied(text) && waited < EMPTY_MS)) {
				calm = settle(text, waited + CALM_MS);
				return;
			}
			calm = undefined;
			void changed().then(rewatch);
		});
	}
	function rewatch(): void {
		const mark = markOf(path);
		if (closed || (watcher && mark.inode === watched)) return;
		watcher?.close();
		watcher = undefined;
		watched = mark.inode;
		if (mark.inode === "") return;
		try {
			watcher = watch(path, { persistent: false }, stirred);
			watcher.on("error", () => {
				watcher?.close();
				watcher = undefined;
			});
		} catch {
			// No watches are left: the regular check is enough.
		}
	}
	function look(last: string): void {
		stopLooking = host.after(LOOK_MS, () => {
			const { change } = markOf(path);
			if (change !== last) stirred();
			look(change);
		});
	}

	return {
		start() {
			rewatch();
			look(markOf(path).change);
		},
		close() {
			closed = true;
			watcher?.close();
			stopLooking();
			calm?.();
		},
	};
}

function markOf(path: string): { inode: string; change: string } {
	const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
	return stat ? { inode: `${stat.dev}:${stat.ino}`, change: `${stat.ino} ${stat.mtimeNs} ${stat.size}` } : { inode: "", change: "" };
}
