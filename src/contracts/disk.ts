// Contract with the disk, as far as run folders need it. Implementation in host/disk.ts. Synchronous: these files are small and local, and handing them to a
// thread costs more than reading them. `write`, `append` and `cut` refuse links and anything else that is no plain file. If the disk refuses a call, the
// system's own error is thrown, with its `code` (ENOSPC, EROFS, EACCES …).

/** Most bytes of a file that is read as a whole. A run can write to its own folder: a file larger than any of ours counts as absent. */
export const MAX_READ = 16_000_000;

export interface Disk {
	/** Makes a folder and all folders above it, for the owner alone. Does nothing if it exists. */
	makeFolder(path: string): "made" | "there";
	/** Renames a file or folder on the same disk. */
	move(from: string, to: string): void;
	/** Writes a small file in place, for the owner alone. Not atomic: after a crash a reader may find half of it. */
	write(path: string, text: string): void;
	/** Replaces a file atomically: a reader finds the old text or the new one, never a part. */
	replace(path: string, text: string): void;
	append(path: string, text: string): void;
	/** The whole file as text; null if it does not exist, is no plain file, or has more than MAX_READ bytes. */
	read(path: string): string | null;
	/** At most `length` bytes from `offset` on; empty at the end, or if there is no such plain file. */
	readAt(path: string, offset: number, length: number): Uint8Array;
	/** Size in bytes, or null if there is no such file. */
	size(path: string): number | null;
	/** When a file or folder was changed last, epoch milliseconds; null when there is none. */
	changedAt(path: string): number | null;
	/** Truncates a file; a process that appends to it continues from there. */
	cut(path: string, size: number): void;
	/** Names in a folder; empty when there is none. */
	list(path: string): string[];
	/** Removes a file, or a folder with its contents. Does nothing if it does not exist. */
	remove(path: string): void;
	/**
	 * Calls back with the name of each file in the folder that was written to, in the order of the writes; consecutive writes to one file may be reported as one.
	 * Null if the system has no such notifications; calls `onEnd` when they stop. Returns a function that ends the watch.
	 */
	watch(folder: string, onWrite: (name: string) => void, onEnd: () => void): (() => void) | null;
}
