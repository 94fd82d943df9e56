// Watches files and folders of this machine: by the system's notifications, and by a scan every few seconds for what those miss.

import { type FSWatcher, readdirSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import type { WatchPaths } from "../contracts/host.ts";

const LOOK_MS = 5000;
/** Maximum number of entries in a scan; changes beyond it are noticed only by notifications. */
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
				// The path is gone, or no watches are left: the scan goes on and watches it again.
				watcher.on("error", () => drop(path));
				watchers.set(path, watcher);
			} catch {
				// The path does not exist yet.
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
		// A path that was replaced has another inode, of which its old watch notices nothing.
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

/** Changes with every change at or below the path, up to COUNTED entries. */
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
