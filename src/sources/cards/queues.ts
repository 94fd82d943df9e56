// Records which queues write to a board, in a small file in its root. A card that says `running` without a job here may be the work of another queue: only
// a board that no other queue writes to may be cleaned up.

import { existsSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { QueueMark } from "../../contracts/source.ts";
import { codeOf, SluiceError } from "../../core/errors.ts";
import { readPlainFile } from "../../host/plain-file.ts";

const QUEUES_FILE = ".sluice-queues.json";

/** Registers this queue, and returns the other registered queues. Throws if the file cannot be read or written. */
export async function joinBoard(root: string, own: QueueMark): Promise<QueueMark[]> {
	const path = join(root, QUEUES_FILE);
	const known = await readQueues(path);
	const others = known.filter((one) => one.queue !== own.queue && !isGone(one, own));
	if (!known.some((one) => JSON.stringify(one) === JSON.stringify(own))) {
		const fresh = `${path}.${process.pid}`;
		await writeFile(fresh, `${JSON.stringify([...others, own], null, "\t")}\n`);
		await rename(fresh, path);
	}
	return others;
}

/** A home has one queue at a time: its previous queue, or a queue whose home on this machine was deleted, no longer writes. */
const isGone = ({ home, host }: QueueMark, own: QueueMark): boolean => host === own.host && (home === own.home || !existsSync(home));

const MAX_QUEUES = 1_000_000;

async function readQueues(path: string): Promise<QueueMark[]> {
	let text: string;
	try {
		text = (await readPlainFile(path, MAX_QUEUES)).toString("utf8");
	} catch (error) {
		if (codeOf(error) === "ENOENT") return [];
		throw error;
	}
	try {
		return (JSON.parse(text) as Record<keyof QueueMark, unknown>[]).map(({ queue, home, host }) => ({
			queue: String(queue),
			home: String(home),
			host: String(host),
		}));
	} catch {
		throw new SluiceError("invalid", `${path}: is not a list of queues`, {
			hint: "delete it: each daemon writes itself into it again when it starts",
		});
	}
}
