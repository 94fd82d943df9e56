// Contract with the disk, as far as run folders need it. Implementation in host/disk.ts. Synchronous: these files are small and local, and a thread's
// round trip costs more than they do. What the disk refuses is thrown as the system's own error, with its `code` (ENOSPC, EROFS, EACCES …).

export interface Disk {
	/** With all folders above it, for the owner alone. Nothing happens when it is there. */
	makeFolder(path: string): "made" | "there";
	/** Gives a file or folder another name on the same disk. */
	move(from: string, to: string): void;
	/** Writes a small file for the owner alone, in place: whoever reads it after a crash may find half of it. */
	write(path: string, text: string): void;
	/** The same, but a reader finds the old text or the new one, never a part. */
	replace(path: string, text: string): void;
	append(path: string, text: string): void;
	/** The whole file as text, or null when there is none. */
	read(path: string): string | null;
	/** At most `length` bytes from `offset` on; empty at the end, or when there is no such file. */
	readAt(path: string, offset: number, length: number): Uint8Array;
	/** Bytes, or null when there is no such file. */
	size(path: string): number | null;
	/** When a file or folder was changed last, epoch milliseconds; null when there is none. */
	changedAt(path: string): number | null;
	/** Cuts a file off; who appends to it goes on from there. */
	cut(path: string, size: number): void;
	/** Names in a folder; empty when there is none. */
	list(path: string): string[];
	/** A file, or a folder with all that is in it. Nothing happens when it is not there. */
	remove(path: string): void;
	/** Bytes that may still be written where `path` is. */
	free(path: string): number;
	/**
	 * Calls back with the name of each file of the folder that was written to, in the order of the writes; writes to one file without another's between them may come as
	 * one. Null where the system offers no such notices; `onEnd` when they cease. Returns how to end it.
	 */
	watch(folder: string, onWrite: (name: string) => void, onEnd: () => void): (() => void) | null;
}

/** What went wrong, in the system's words. */
export const troubleOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
