// Reading what may vanish between two lines: a file, a process. Nothing there is an answer, not an error.

import { closeSync, openSync, readSync } from "node:fs";

/** Null when the file or process is not there, or not ours to read. Anything else is thrown. */
export function quietly<Value>(read: () => Value): Value | null {
	try {
		return read();
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? "";
		if (["ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR"].includes(code)) return null;
		throw error;
	}
}

let buffer = Buffer.allocUnsafe(16_384);

/** A whole small file; valid until the next call. Half as many system calls as readFileSync, which matters where /proc is read through. */
export function readSmall(path: string): Buffer | null {
	return quietly(() => {
		const fd = openSync(path, "r");
		try {
			for (let length = 0; ; ) {
				const count = readSync(fd, buffer, length, buffer.length - length, null);
				length += count;
				// /proc/*/environ comes in pages at most; all else comes whole.
				if (length < buffer.length && (count === 0 || length < 4096)) return buffer.subarray(0, length);
				if (length < buffer.length) continue;
				const larger = Buffer.allocUnsafe(buffer.length * 2);
				buffer.copy(larger);
				buffer = larger;
			}
		} finally {
			closeSync(fd);
		}
	});
}
