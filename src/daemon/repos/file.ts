// A repo's own sluice.yml: it may only set what concerns that repo, and counts only once a person has trusted exactly this text. Read when it is needed.

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { codeOf, messageOf, orElse, SluiceError } from "../../core/errors.ts";
import { REPO_FILE_KEYS, type WholeRepo } from "../../core/schema/repo.ts";
import { rowsReader, type ValuesOf } from "../../core/schema/setting.ts";
import { isInside } from "../../core/trust/path.ts";
import { REPO_FILE, trustsFile } from "../../core/trust/repo-files.ts";
import { readBytes, usePlainFile } from "../../host/plain-file.ts";
import { readConfigText } from "../config/text.ts";

type FileKeys = ValuesOf<typeof REPO_FILE_KEYS>;
export type RepoFile =
	| { state: "none" }
	/** `changed`: the text differs from the one that was trusted. */
	| { state: "untrusted" | "changed"; hash: string }
	| { state: "bad"; problem: string }
	| { state: "trusted"; hash: string };

const FILE = REPO_FILE;
const MAX_FILE_BYTES = 100_000;
const readKeys = rowsReader(REPO_FILE_KEYS);
const cache = new Map<string, { mark: string; text: string; digest: string }>();

/** The settings in force, and the state of the repo's file. */
export function withRepoFile(settings: WholeRepo): { settings: WholeRepo; file: RepoFile } {
	if (settings.path === null) return { settings, file: { state: "none" } };
	const { own, problem } = repoFileIn(settings.path);
	if (problem !== null) return { settings, file: { state: "bad", problem } };
	if (own === null) return { settings, file: { state: "none" } };
	const { text, digest: hash } = own;
	const { trusted } = settings;
	if (!trustsFile(trusted, hash)) return { settings, file: { state: trusted === false ? "untrusted" : "changed", hash } };
	try {
		return { settings: { ...settings, ...parse(text, settings) }, file: { state: "trusted", hash } };
	} catch (error) {
		return { settings, file: { state: "bad", problem: messageOf(error) } };
	}
}

export const parse = (text: string, before: WholeRepo): FileKeys => {
	const { path: _path, url: _url, trusted: _trusted, ...keys } = before;
	const file = readConfigText(text, FILE);
	try {
		return readKeys(file.given, "", keys);
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		const { code, field, hint } = error;
		throw new SluiceError(code, `${FILE}${file.position(field ?? "")}: ${error.message}`, { field, hint });
	}
};

/** A file of a repo that trust covers. `digest`: the SHA-256 of its bytes. */
export type OwnFile = { path: string; text: string; digest: string };

/** The bounds of one file: `tooLarge` says what it may have. */
type Bound = { most: number; tooLarge: string };

/** Null when there is none; throws why one that is there cannot be used. A link out of the repo is refused: what it leads to is no part of what was trusted. */
export function readOwnFile(root: string, file: string, { most, tooLarge }: Bound): OwnFile | null {
	const wrong = (why: string) => new Error(`${/\p{Cc}/u.test(file) ? JSON.stringify(file) : file} ${why}`);
	const path = join(root, file);
	try {
		const real = realpathSync(path);
		if (!isInside({ path: real, folder: realpathSync(root) })) throw wrong("leads out of the repo");
		// Of a link that was put here meanwhile, the digest is that of what is read.
		const read = usePlainFile(real, (handle, stat) => {
			if (stat.size > BigInt(most)) throw wrong(`is too large: ${tooLarge}`);
			const mark = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
			const known = cache.get(path);
			if (known?.mark === mark) return known;
			const bytes = readBytes(handle, 0, Number(stat.size));
			const text = decoded(bytes);
			if (text === null) throw wrong("is not UTF-8");
			const fresh = { mark, text, digest: createHash("sha256").update(bytes).digest("hex") };
			cache.set(path, fresh);
			return fresh;
		});
		if (read === null) throw wrong("is not a plain file");
		return { path, text: read.text, digest: read.digest };
	} catch (error) {
		const code = codeOf(error);
		if (code === "ENOENT" || code === "ENOTDIR") return null;
		throw code === "" ? error : wrong(`cannot be read (${code})`);
	}
}

const decoded = (bytes: Buffer): string | null =>
	orElse(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes), null);

/** A repo's sluice.yml. `problem`: why it cannot be used; then it has no text. */
export type RepoFileRead = { own: OwnFile | null; problem: string | null };

export function repoFileIn(folder: string): RepoFileRead {
	try {
		return {
			own: readOwnFile(folder, FILE, { most: MAX_FILE_BYTES, tooLarge: `it may have ${MAX_FILE_BYTES} bytes at most` }),
			problem: null,
		};
	} catch (error) {
		return { own: null, problem: messageOf(error) };
	}
}
