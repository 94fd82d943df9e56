// This machine's disk.

import {
	appendFileSync,
	closeSync,
	mkdirSync,
	openSync,
	readdirSync,
	readFileSync,
	readSync,
	renameSync,
	rmSync,
	statfsSync,
	statSync,
	truncateSync,
	watch,
	writeSync,
} from "node:fs";
import type { Disk } from "../disk.ts";

const OURS = 0o600;

/** What there is to say about a file that may be absent. */
function unlessMissing<T, N>(look: () => T, none: N): T | N {
	try {
		return look();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		if (code === "ENOENT" || code === "ENOTDIR") return none;
		throw error;
	}
}

/** Half the calls of writeFileSync, which looks at the file first; there is one of these on the way of every start. */
function write(path: string, text: string): void {
	const file = openSync(path, "w", OURS);
	try {
		const bytes = Buffer.from(text);
		for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
	} finally {
		closeSync(file);
	}
}

export const localDisk: Disk = {
	makeFolder: (path) => (mkdirSync(path, { recursive: true, mode: 0o700 }) === undefined ? "there" : "made"),
	move: renameSync,
	write,
	replace(path, text) {
		const draft = `${path}.new`;
		try {
			write(draft, text);
			renameSync(draft, path);
		} catch (error) {
			rmSync(draft, { force: true });
			throw error;
		}
	},
	append: (path, text) => appendFileSync(path, text, { mode: OURS }),
	read: (path) => unlessMissing(() => readFileSync(path, "utf8"), null),
	readAt(path, offset, length) {
		const file = unlessMissing(() => openSync(path, "r"), null);
		if (file === null) return new Uint8Array(0);
		try {
			const bytes = Buffer.allocUnsafe(length);
			return bytes.subarray(0, readSync(file, bytes, 0, length, offset));
		} finally {
			closeSync(file);
		}
	},
	size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? null,
	changedAt(path) {
		const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
		return at === undefined ? null : Math.floor(at);
	},
	cut: (path, size) => truncateSync(path, size),
	list: (path) => unlessMissing(() => readdirSync(path), []),
	remove: (path) => rmSync(path, { recursive: true, force: true }),
	free(path) {
		const { bavail, bsize } = statfsSync(path);
		return bavail * bsize;
	},
	watch(folder, onWrite, onEnd) {
		try {
			const watcher = watch(folder, { persistent: false }, (kind, name) => {
				if (kind === "change" && name !== null) onWrite(name);
			});
			watcher.on("error", () => {
				watcher.close();
				onEnd();
			});
			return () => watcher.close();
		} catch {
			// No watches left, or a file system without them.
			return null;
		}
	},
};
