// What `sluice repo trust` covers: each file of a repo that can name programs, by the SHA-256 of its bytes. Finds the files that have changed since, and why
// the repo's recipes are not in force. Pure.
//
//   trusted in config.yml     sluice.yml is in force        recipes/ are in force
//   false                     no                            no
//   true                      always                        always
//   a digest                  while it has this digest      no: written before recipes were recorded
//   a list of files           while it has its digest       while they are exactly these files, with these digests

import * as check from "../input/check.ts";

export const REPO_FILE = "sluice.yml";
export const RECIPES_FOLDER = "recipes";
/** The SHA-256 of an empty text, which older versions recorded for a repo without a sluice.yml. */
const NO_TEXT = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const MOST_FILES = 1000;
const DIGEST = /^[0-9a-f]{64}$/;
/** A line as sha256sum(1) writes it. */
const LINE = /^([0-9a-f]{64}) {2}(sluice\.yml|recipes\/[^/\p{Cc}]+)$/u;

export type Trust = boolean | string | readonly string[];
/** A file's path in the repo → the SHA-256 of its bytes. */
export type FileDigests = ReadonlyMap<string, string>;
export type FileChange = { file: string; change: "added" | "changed" | "removed" };
export type RecipesState = "none" | "untrusted" | "changed" | "bad" | "trusted";

export function readTrust(value: unknown, field: string): Trust {
	if (typeof value === "string" && DIGEST.test(value)) return value;
	if (!Array.isArray(value)) return check.flag(value, field);
	return check.list(value, field, MOST_FILES).map((one, index) => {
		const line = check.text(one, `${field}[${index}]`, { max: 4096, lines: "one" });
		if (!LINE.test(line))
			throw check.wrong(`${field}[${index}]`, `${check.shown(line)} is no digest and file`, "sluice repo trust writes it");
		return line;
	});
}

export const trustLines = (files: FileDigests): string[] => [...files].map(([file, digest]) => `${digest}  ${file}`).sort();

/** The recorded digests; null if nothing is trusted, or everything is. */
function recorded(trust: Trust): Map<string, string> | null {
	if (typeof trust === "boolean") return null;
	if (typeof trust === "string") return new Map(trust === NO_TEXT ? [] : [[REPO_FILE, trust]]);
	return new Map(
		trust.flatMap((line) => {
			const [, digest, file] = LINE.exec(line) ?? [];
			return digest === undefined || file === undefined ? [] : [[file, digest] as const];
		}),
	);
}

export const isRecipe = (file: string): boolean => file.startsWith(`${RECIPES_FOLDER}/`);

/** Whether the sluice.yml with this digest is trusted. */
export const trustsFile = (trust: Trust, digest: string): boolean => trust === true || recorded(trust)?.get(REPO_FILE) === digest;

/** The files that differ from the trusted ones; if nothing is trusted, all files count as added. */
export function changesSince(trust: Trust, now: FileDigests): FileChange[] {
	if (trust === true) return [];
	const before = recorded(trust) ?? new Map<string, string>();
	const files = [...new Set([...before.keys(), ...now.keys()])].sort();
	return files.flatMap((file): FileChange[] => {
		const [was, is] = [before.get(file), now.get(file)];
		if (was === is) return [];
		return [{ file, change: was === undefined ? "added" : is === undefined ? "removed" : "changed" }];
	});
}

/** `problem`: why the files in recipes/ cannot be read; then none of them is in force. */
export function recipesState(trust: Trust, now: FileDigests, problem: string | null): RecipesState {
	if (problem !== null) return "bad";
	const changes = changesSince(trust, now).filter(({ file }) => isRecipe(file));
	if (changes.length === 0) return [...now.keys()].some(isRecipe) ? "trusted" : "none";
	return typeof trust === "object" ? "changed" : "untrusted";
}

const NAMED_CHANGES = 3;
const listed = (changes: readonly FileChange[]): string => {
	const words = changes.slice(0, NAMED_CHANGES).map(({ file, change }) => `${file} was ${change}`);
	return changes.length > NAMED_CHANGES ? `${words.join(", ")} and ${changes.length - NAMED_CHANGES} more` : words.join(", ");
};

/** Why the recipes of a repo are not in force; null if they are, or if there are none. */
export function recipesProblem(repo: string, trust: Trust, now: FileDigests, problem: string | null): string | null {
	const because = {
		none: null,
		trusted: null,
		bad: problem,
		changed: `${listed(changesSince(trust, now).filter(({ file }) => isRecipe(file)))} since they were trusted`,
		untrusted: trust === false ? "they are not trusted" : `sluice repo trust ${repo} was said before recipes were recorded`,
	}[recipesState(trust, now, problem)];
	return because === null ? null : `the recipes of repo ${repo} do not count: ${because}`;
}

/** Why trusted settings are not in force: the trusted sluice.yml was changed or removed. Ignoring its settings silently would be wrong. */
export function lostSettings(repo: string, trust: Trust, now: FileDigests): string | null {
	const change = changesSince(trust, now).find(({ file }) => file === REPO_FILE)?.change;
	return change === "changed" || change === "removed"
		? `the ${REPO_FILE} of repo ${repo} was ${change} since it was trusted, so its verify does not count; read it, then: sluice repo trust ${repo}`
		: null;
}

/** Why the repo's sluice.yml is not in force. */
export function fileProblem(repo: string, trust: Trust, now: FileDigests): string | null {
	const change = changesSince(trust, now).find(({ file }) => file === REPO_FILE)?.change;
	if (change === undefined || change === "removed") return null;
	const because = trust === false ? "it is not trusted" : `it was ${change} since the repo was trusted`;
	return `the ${REPO_FILE} of repo ${repo} does not count: ${because}`;
}

export const trustHint = (repo: string, state: RecipesState): string =>
	`${state === "bad" ? "mend that" : "read the files"}, then: sluice repo trust ${repo}`;
