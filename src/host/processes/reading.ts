// Reads files and processes that may vanish at any moment. Absence is a result here, not an error.

import { closeSync, constants, openSync, readSync } from "node:fs";

/** Null when the file or process does not exist or must not be read. Any other error is thrown. */
export function quietly<Value>(read: () => Value): Value | null {
	try {
		return read();
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? "";
		if (["ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR", "EAGAIN", "EISDIR"].includes(code)) return null;
		throw error;
	}
}

const USUAL_BYTES = 16_384;
/** More than the kernel allows for a program's environment. A run can put anything in place of its `exit` file, even an endless device. */
const MAX_BYTES = 8_000_000;
let buffer = Buffer.allocUnsafe(USUAL_BYTES);

/**
 * Reads a whole small file; the buffer is valid until the next call. Null for a file that is not small; a FIFO without a writer reads as empty. Needs half
 * the system calls of readFileSync, which matters when all of /proc is read.
 */
export function readSmall(path: string): Buffer | null {
	return quietly(() => {
		const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
		try {
			for (let length = 0; ; ) {
				const count = readSync(fd, buffer, length, buffer.length - length, null);
				length += count;
				// /proc/*/environ is returned in pieces of at most a page; all other files are returned in one piece.
				if (length < buffer.length && (count === 0 || length < 4096)) return buffer.subarray(0, length);
				if (length < buffer.length) continue;
				if (length > MAX_BYTES) {
					buffer = Buffer.allocUnsafe(USUAL_BYTES);
					return null;
				}
				const larger = Buffer.allocUnsafe(buffer.length * 2);
				buffer.copy(larger);
				buffer = larger;
			}
		} finally {
			closeSync(fd);
		}
	});
}
