// Files that other people put into a source: only plain ones are read, and none beyond a bound. Opening a FIFO would wait for a writer and keep one of the
// four threads that read files for all of the daemon.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { SluiceError } from "../core/errors.ts";

export async function readPlainFile(path: string, max: number): Promise<Buffer> {
	const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		const stat = await file.stat();
		if (!stat.isFile()) throw new SluiceError("invalid", "is not a plain file", { hint: "put the file itself there" });
		if (stat.size > max) throw new SluiceError("limit", `${stat.size} bytes, at most ${max}`);
		const bytes = Buffer.alloc(stat.size + 1);
		let length = 0;
		// It may grow or shrink meanwhile; the next look sees that.
		for (;;) {
			const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
			length += bytesRead;
			if (bytesRead === 0 || length === bytes.length) break;
		}
		return bytes.subarray(0, Math.min(length, stat.size));
	} finally {
		await file.close();
	}
}
