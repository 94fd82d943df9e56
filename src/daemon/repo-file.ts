// A repo's own sluice.yml: may say only what concerns that repo, and counts only once somebody has trusted this very text. Read when it is needed.

import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { group, type Readers } from "../core/config-input.ts";
import { SluiceError } from "../core/errors.ts";
import type { RepoSettings } from "../workspace.ts";
import { readConfigText } from "./config-text.ts";
import { REPO_ENGINE_READERS, REPO_FILE_READERS } from "./settings.ts";

/** All that can be said of a repo: the daemon's keys and the engine's. */
export type WholeRepo = RepoSettings & { max: number | null; prefix: string | null };
type FileKeys = Omit<WholeRepo, "path" | "url" | "trusted">;
export type RepoFile =
	| { state: "none" }
	/** `changed`: another text than the one that was trusted. */
	| { state: "untrusted" | "changed"; hash: string }
	| { state: "bad"; hash: string; problem: string }
	| { state: "trusted"; hash: string };

export const FILE = "sluice.yml";
const MOST = 100_000;
const hashOf = (text: string) => createHash("sha256").update(text).digest("hex");
/** Of a repo that has no such file. */
export const NO_TEXT = hashOf("");
const readKeys = group<FileKeys>({ ...REPO_FILE_READERS, ...REPO_ENGINE_READERS } as Readers<FileKeys>);
const cache = new Map<string, { mark: string; text: string | null }>();

/** The settings in force, and what there is to say about its file. */
export function withRepoFile(settings: WholeRepo): { settings: WholeRepo; file: RepoFile } {
	if (settings.path === null) return { settings, file: { state: "none" } };
	const text = textIn(settings.path);
	if (text === null) return { settings, file: { state: "none" } };
	const hash = hashOf(text);
	const { trusted } = settings;
	if (trusted !== true && trusted !== hash) return { settings, file: { state: trusted === false ? "untrusted" : "changed", hash } };
	try {
		return { settings: { ...settings, ...parse(text, settings) }, file: { state: "trusted", hash } };
	} catch (error) {
		return { settings, file: { state: "bad", hash, problem: error instanceof Error ? error.message : String(error) } };
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

/** Null when there is none that can be read. */
function textIn(folder: string): string | null {
	const path = join(folder, FILE);
	try {
		const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
		if (!stat?.isFile() || stat.size > BigInt(MOST)) return null;
		const mark = `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
		const known = cache.get(path);
		if (known?.mark === mark) return known.text;
		const text = readFileSync(path, "utf8");
		cache.set(path, { mark, text });
		return text;
	} catch {
		return null;
	}
}
