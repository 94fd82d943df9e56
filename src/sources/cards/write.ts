// Writes a card's status and history without losing what a person writes at the same time: read, change, read again, and only if nothing has changed
// in between put the new file in the old one's place.

import { lstat, open, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { SluiceError } from "../../core/errors.ts";
import type { AgentStatus, Change, Written } from "../../source.ts";
import { mayFollow } from "./card.ts";
import { readCard, withField, withHistory } from "./front-matter.ts";

/** Somebody who saves more often than this is not overtaken. */
const TRIES = 20;

/** `meanwhile` is called between reading and writing, for tests. */
export async function writeCard(path: string, change: Change, meanwhile: () => void = () => {}): Promise<Written> {
	for (let tries = 0; tries < TRIES; tries++) {
		const before = await readFile(path);
		const { text, left } = changed(before, change);
		meanwhile();
		if (text === null) return { changed: false, left };
		if (await replace(path, before, text)) return { changed: true, left };
	}
	throw new SluiceError("conflict", `${path}: changes faster than it can be written`, { hint: "it is tried again at the next change" });
}

/** `text` null: nothing is to be changed. */
export function changed(bytes: Uint8Array, { status, line }: Change): { text: string | null; left: string | null } {
	const card = readCard(bytes);
	const word = card.front?.fields.agent_status;
	const now = (word === undefined || word === null ? "" : word === "cancelled" ? "canceled" : String(word)) as AgentStatus | "";
	const fits = mayFollow(now, status);
	const left = fits
		? null
		: `agent_status is ${now === "" ? "empty" : now}, which does not lead to ${status}: it stays as a person wrote it`;
	let text = fits && now !== status ? withField(card, "agent_status", status) : card.text;
	if (line && !text.includes(line.once)) text = withHistory(text, card.newline, line.text);
	return { text: text === card.text ? null : text, left };
}

/** False when somebody else has written in between. */
async function replace(path: string, before: Uint8Array, text: string): Promise<boolean> {
	const fresh = join(dirname(path), `.${basename(path)}.sluice-${process.pid}`);
	const { mode, uid, gid } = await lstat(path);
	try {
		const file = await open(fresh, "w", mode & 0o777);
		try {
			await file.writeFile(text);
			// The process's mask may have taken something away.
			await file.chmod(mode & 0o777);
			if (uid !== process.getuid?.()) await file.chown(uid, gid).catch(() => {});
			await file.sync();
		} finally {
			await file.close();
		}
		if (!(await readFile(path)).equals(before)) {
			await rm(fresh, { force: true });
			return false;
		}
		await rename(fresh, path);
		return true;
	} catch (error) {
		await rm(fresh, { force: true });
		throw error;
	}
}
