// Watches files and folders of this machine: the system's own notices, and a look every few seconds for what they miss.

import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import type { WatchPaths } from "../host.ts";

const LOOK_MS = 5000;
/** Entries of a folder that the look counts; beyond that the notices have to do. */
const COUNTED = 5000;

export const watchPaths: WatchPaths = (paths, call) => {
	const watchers = new Map<string, FSWatcher>();
	let signature = paths.map(signatureOf).join("\n");
	let closed = false;

	function rewatch(): void {
		for (const path of paths) {
			if (watchers.has(path)) continue;
			try {
				const watcher = watch(path, { recursive: true, persistent: false }, () => {
					if (!closed) call();
				});
				// Gone, or no watches left: the look goes on, and tries again.
				watcher.on("error", () => drop(path));
				watchers.set(path, watcher);
			} catch {
				// Not there yet.
			}
		}
	}
	function drop(path: string): void {
		watchers.get(path)?.close();
		watchers.delete(path);
	}
	const timer = setInterval(() => {
		const now = paths.map(signatureOf).join("\n");
		if (now === signature) return;
		signature = now;
		// One that was replaced has another inode: its old watch hears nothing.
		for (const path of paths) drop(path);
		rewatch();
		call();
	}, LOOK_MS);
	timer.unref();
	rewatch();
	return () => {
		closed = true;
		clearInterval(timer);
		for (const path of [...watchers.keys()]) drop(path);
	};
};

/** Changes with whatever is at or below the path, as far as it is counted. */
function signatureOf(path: string): string {
	const parts: string[] = [];
	const open = [path];
	for (let next = open.pop(); next !== undefined && parts.length < COUNTED; next = open.pop()) {
		try {
			const stat = statSync(next, { throwIfNoEntry: false, bigint: true });
			parts.push(stat ? `${next} ${stat.ino} ${stat.mtimeNs} ${stat.size}` : `${next} -`);
			if (stat?.isDirectory()) for (const name of readdirSync(next).sort()) open.push(join(next, name));
		} catch {
			parts.push(`${next} ?`);
		}
	}
	return parts.join("\n");
}
