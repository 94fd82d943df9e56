// Opening a file that a run or another person may have replaced: only a plain file is opened, and no open waits. Without O_NONBLOCK, opening a FIFO waits for its
// other end: a call of the daemon's thread, or one of the four threads that read files for all of the daemon. Not for /proc, whose files tell no size
// (processes/reading.ts).

import { type BigIntStats, closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { SluiceError } from "../core/errors.ts";

/** Hands an open file to `use`, and closes it. Null: it is no plain file. What the system refuses is thrown with its `code`; a socket is refused with ENXIO. */
export function usePlainFile<T>(path: string, use: (handle: number, stat: BigIntStats) => T, flags: number = constants.O_RDONLY): T | null {
	const handle = openSync(path, flags | constants.O_NONBLOCK, 0o600);
	try {
		const stat = fstatSync(handle, { bigint: true });
		return stat.isFile() ? use(handle, stat) : null;
	} finally {
		closeSync(handle);
	}
}

/** Fewer than `length` where the file ends before: it may have shrunk since its size was read. */
export function readBytes(handle: number, offset: number, length: number): Buffer {
	const bytes = Buffer.allocUnsafe(length);
	let done = 0;
	while (done < length) {
		const count = readSync(handle, bytes, done, length - done, offset + done);
		if (count === 0) break;
		done += count;
	}
	return bytes.subarray(0, done);
}

const notPlain = () => new SluiceError("invalid", "is not a plain file", { hint: "put the file itself there" });
const tooLarge = (size: bigint, max: number) => new SluiceError("limit", `${size} bytes, at most ${max}`);

/** All bytes of a plain file; anything else, and what has more than `max` bytes, is refused. */
export function readPlainFileNow(path: string, max: number): Buffer {
	const bytes = usePlainFile(path, (handle, { size }) => {
		if (size > BigInt(max)) throw tooLarge(size, max);
		return readBytes(handle, 0, Number(size));
	});
	if (bytes === null) throw notPlain();
	return bytes;
}

/** The same without keeping the daemon from its other work: for folders that may be on a slow disk. */
export async function readPlainFile(path: string, max: number): Promise<Buffer> {
	const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		const stat = await file.stat({ bigint: true });
		if (!stat.isFile()) throw notPlain();
		if (stat.size > BigInt(max)) throw tooLarge(stat.size, max);
		return await readAll(file, Number(stat.size));
	} finally {
		await file.close();
	}
}

/** Fewer bytes than `size` where the file has shrunk since. */
export async function readAll(file: FileHandle, size: number): Promise<Buffer> {
	const bytes = Buffer.allocUnsafe(size);
	let done = 0;
	while (done < size) {
		const { bytesRead } = await file.read(bytes, done, size - done, done);
		if (bytesRead === 0) break;
		done += bytesRead;
	}
	return bytes.subarray(0, done);
}
