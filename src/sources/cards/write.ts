// Writes a card's status and history without losing what a person writes at the same time: open, read, change, read again, and write to the open file only
// if nothing has changed in between. It does not rename a new file over the card's path: a rename would bring back a card that a person has deleted or
// moved since.

import { type FileHandle, open, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { AgentStatus, Change, Written } from "../../contracts/source.ts";
import { codeOf, SluiceError } from "../../core/errors.ts";
import { readAll, readPlainFile } from "../../host/plain-file.ts";
import { mayFollow } from "./card.ts";
import { type CardText, MAX_CARD, readCard, withField, withHistory } from "./front-matter.ts";

/** Gives up if an editor saves more often than this. */
const MAX_WRITES = 20;

/** Called for tests: `read` between the two reads, `write` right before the first byte is written. */
export type Meanwhile = (moment: "read" | "write") => void;

/** Throws ENOENT if the card is gone, also if it disappears during the write. */
export async function writeCard(path: string, change: Change, meanwhile: Meanwhile = () => {}): Promise<Written> {
	for (let tries = 0; tries < MAX_WRITES; tries++) {
		const file = await open(path, "r+");
		try {
			const before = await contentOf(file);
			const { text, left } = changed(before, change);
			meanwhile("read");
			if (text === null) return { changed: false, left };
			if (!(await contentOf(file)).equals(before)) continue;
			meanwhile("write");
			await overwrite(file, path, Buffer.from(text));
			if ((await keepsPath(file, path)) || (await isDecided(path, before))) return { changed: true, left };
		} finally {
			await file.close();
		}
	}
	throw new SluiceError("conflict", `${path}: changes faster than it can be written`, { hint: "it is tried again at the next change" });
}

/** An editor has replaced the card's file. If its status differs from before, a person has decided; if not, it lacks only our change. */
async function isDecided(path: string, before: Uint8Array): Promise<boolean> {
	return statusIn(await readPlainFile(path, MAX_CARD)) !== statusIn(before);
}

const statusIn = (bytes: Uint8Array): AgentStatus | "" => statusOf(readCard(bytes));

function statusOf({ front }: CardText): AgentStatus | "" {
	const word = front?.fields.agent_status;
	return (word === undefined || word === null ? "" : word === "cancelled" ? "canceled" : String(word)) as AgentStatus | "";
}

/** `text` null: nothing to change. */
export function changed(bytes: Uint8Array, { status, line }: Change): { text: string | null; left: string | null } {
	const card = readCard(bytes);
	const now = statusOf(card);
	const fits = mayFollow(now, status);
	const left = fits
		? null
		: `agent_status is ${now === "" ? "empty" : now}, which does not lead to ${status}: it stays as a person wrote it`;
	let text = fits && now !== status ? withField(card, "agent_status", status) : card.text;
	if (line && !text.includes(line.once)) text = withHistory(text, card.newline, line.text);
	return { text: text === card.text ? null : text, left };
}

const contentOf = async (file: FileHandle): Promise<Buffer> => readAll(file, (await file.stat()).size);

/** A copy of the new text lies beside the card until all of it is on disk: if the machine stops half way, the copy is complete. */
async function overwrite(file: FileHandle, path: string, text: Buffer): Promise<void> {
	const copy = join(dirname(path), `.${basename(path)}.sluice-${process.pid}`);
	const { mode, size } = await file.stat();
	try {
		await writeFile(copy, text, { mode: mode & 0o777, flush: true });
		await file.write(text, 0, text.length, 0);
		if (text.length < size) await file.truncate(text.length);
		await file.sync();
	} finally {
		await rm(copy, { force: true });
	}
}

/** False if the path names another file by now. A moved file has kept the new text; throws ENOENT if the card was deleted. */
async function keepsPath(file: FileHandle, path: string): Promise<boolean> {
	const own = await file.stat({ bigint: true });
	try {
		const there = await stat(path, { bigint: true });
		return own.ino === there.ino && own.dev === there.dev;
	} catch (error) {
		if (codeOf(error) === "ENOENT" && own.nlink > 0n) return true;
		throw error;
	}
}
