// This machine's disk.

import { constants, ftruncateSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, watch, writeSync } from "node:fs";
import { type Disk, MAX_READ } from "../contracts/disk.ts";
import { readBytes, usePlainFile } from "./plain-file.ts";

/** Turns the error for a missing file into `none`. */
function unlessMissing<T, N>(look: () => T, none: N): T | N {
	try {
		return look();
	} catch (error) {
		const { code } = error as NodeJS.ErrnoException;
		// ENXIO: opening a socket as a file.
		if (code === "ENOENT" || code === "ENOTDIR" || code === "ENXIO") return none;
		throw error;
	}
}

/** Makes half the system calls of writeFileSync, which stats the file first. Every start of a run writes files this way. */
function write(path: string, text: string): void {
	into(path, constants.O_CREAT | constants.O_TRUNC, (file) => writeAll(file, text));
}

/**
 * A run may put anything in place of a file that the daemon writes. A link is refused (ELOOP): through it the daemon would write to a file of the run's choice.
 * A FIFO without a reader (ENXIO), a device and anything else that is no plain file are refused, too. The owner's config.yml may be a link; it is not written here.
 */
function into(path: string, flags: number, use: (file: number) => void): void {
	const done = usePlainFile(
		path,
		(file) => {
			use(file);
			return true;
		},
		flags | constants.O_WRONLY | constants.O_NOFOLLOW,
	);
	if (done === null) throw Object.assign(new Error(`EINVAL: is not a plain file, write '${path}'`), { code: "EINVAL", path });
}

function writeAll(file: number, text: string): void {
	const bytes = Buffer.from(text);
	for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
}

/** The bytes of a plain file that `which` selects by the file's size; null when there is no plain file, or `which` selects nothing. */
function bytesOf(path: string, which: (size: number) => { offset: number; length: number } | null): Buffer | null {
	return unlessMissing(
		() =>
			usePlainFile(path, (file, { size }) => {
				const part = which(Number(size));
				return part === null ? null : readBytes(file, part.offset, part.length);
			}),
		null,
	);
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
	append: (path, text) => into(path, constants.O_CREAT | constants.O_APPEND, (file) => writeAll(file, text)),
	read: (path) => bytesOf(path, (size) => (size > MAX_READ ? null : { offset: 0, length: size }))?.toString("utf8") ?? null,
	readAt: (path, offset, length) => bytesOf(path, () => ({ offset, length })) ?? new Uint8Array(0),
	size: (path) => statSync(path, { throwIfNoEntry: false })?.size ?? null,
	changedAt(path) {
		const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
		return at === undefined ? null : Math.floor(at);
	},
	cut: (path, size) => into(path, 0, (file) => ftruncateSync(file, size)),
	list: (path) => unlessMissing(() => readdirSync(path), []),
	remove: (path) => rmSync(path, { recursive: true, force: true }),
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
			// No inotify watches are left, or the file system does not support them.
			return null;
		}
	},
};
