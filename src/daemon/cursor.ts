// How far events have been written back to items, in a small file of the home. If it is lost or old, some events are just processed again.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Cursor } from "../intake/write-back.ts";

export function openCursor(path: string): Cursor {
	return {
		read() {
			try {
				const { seq } = JSON.parse(readFileSync(path, "utf8")) as { seq?: unknown };
				return typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0 ? seq : null;
			} catch {
				return null;
			}
		},
		write(seq) {
			try {
				writeFileSync(`${path}.new`, JSON.stringify({ seq }), { mode: 0o600 });
				renameSync(`${path}.new`, path);
			} catch {
				// A full disk, for example: the next write tries again.
			}
		},
	};
}
