// Which of a repo's own files are in force: reads its sluice.yml and recipes, and compares them with what was trusted.

import { createHash } from "node:crypto";
import type { Checkup, RepoDocument } from "../../api/context.ts";
import type { RepoRecipes } from "../../contracts/intake.ts";
import { SluiceError } from "../../core/errors.ts";
import type { WholeRepo } from "../../core/schema/repo.ts";
import {
	changesSince,
	type FileDigests,
	fileProblem,
	isRecipe,
	lostSettings,
	REPO_FILE,
	recipesProblem,
	recipesState,
	type Trust,
	trustHint,
	trustLines,
} from "../../core/trust/repo-files.ts";
import { readRecipeText } from "../../intake/recipe-book.ts";
import { parse, repoFileIn, withRepoFile } from "./file.ts";
import { type RecipesRead, recipesIn } from "./recipes.ts";

/** `unusable`: why its sluice.yml cannot be used; `problem`: the same of its recipes. */
type Found = RecipesRead & { text: string | null; unusable: string | null; digests: FileDigests };
type TrustView = Pick<RepoDocument, "recipes" | "changes" | "trust_problem" | "digest">;

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** All files that trust covers, with their current digests. */
function filesOf(path: string | null): Found {
	if (path === null) return { files: [], problem: null, text: null, unusable: null, digests: new Map() };
	const { own, problem: unusable } = repoFileIn(path);
	const read = recipesIn(path);
	const all = [...(own === null ? [] : [{ file: REPO_FILE, digest: own.digest }]), ...read.files];
	return { ...read, text: own?.text ?? null, unusable, digests: new Map(all.map(({ file, digest }) => [file, digest])) };
}

const unusableWords = (repo: string, problem: string): string => `the ${REPO_FILE} of repo ${repo} does not count: ${problem}`;

/** Why merges into the repo are suspended: a trusted sluice.yml has changed, or has a mistake. Null when they are not. */
export function lostTrust(repo: string, settings: WholeRepo): string | null {
	const { path, trusted } = settings;
	if (path === null || trusted === false) return null;
	const { file } = withRepoFile(settings);
	if (file.state === "bad")
		return `the ${REPO_FILE} of repo ${repo} cannot be used (${file.problem}), so its verify is not in force; ${trustHint(repo, "bad")}`;
	const { own } = repoFileIn(path);
	return lostSettings(repo, trusted, new Map(own === null ? [] : [[REPO_FILE, own.digest]]));
}

const digestOf = (digests: FileDigests): string => sha256(trustLines(digests).join("\n"));

/** The recipes in force, and the reason why the others are not. */
export function recipesOf(repo: string, { path, trusted }: Pick<WholeRepo, "path" | "trusted">): RepoRecipes {
	const { files, problem, digests } = filesOf(path);
	if (recipesState(trusted, digests, problem) === "trusted") return { files, ignored: [], problem: null, hint: null };
	const known = [...digests.keys(), ...changesSince(trusted, digests).map(({ file }) => file)].filter(isRecipe);
	return {
		files: [],
		ignored: [...new Set(known)].map((file) => file.replace(/^recipes\//, "").replace(/\.ya?ml$/, "")),
		problem: recipesProblem(repo, trusted, digests, problem),
		hint: trustHint(repo, recipesState(trusted, digests, problem)),
	};
}

/** Why its files do not count, and what to type; null where they do. */
function trustProblem(repo: string, trusted: Trust, { digests, problem, unusable }: Found): { detail: string; hint: string } | null {
	const file = unusable === null ? fileProblem(repo, trusted, digests) : unusableWords(repo, unusable);
	const said = [file, recipesProblem(repo, trusted, digests, problem)].filter((one) => one !== null);
	if (said.length === 0) return null;
	return { detail: said.join("; "), hint: trustHint(repo, unusable === null ? recipesState(trusted, digests, problem) : "bad") };
}

/** For `repo.show` and `repo.list`. */
export function trustView(repo: string, settings: WholeRepo): TrustView {
	const { path, trusted } = settings;
	const found = filesOf(path);
	const { digests, problem } = found;
	const wrong = trustProblem(repo, trusted, found);
	return {
		recipes: recipesState(trusted, digests, problem),
		changes: changesSince(trusted, digests).map((one) => ({ ...one, commands: commandsIn(one.file, found, settings) })),
		trust_problem: wrong === null ? null : `${wrong.detail}; ${wrong.hint}`,
		digest: digests.size === 0 ? null : digestOf(digests),
	};
}

/** The programs that a file names, as far as it can be parsed. */
function commandsIn(file: string, { text, files }: Found, settings: WholeRepo): string[][] {
	try {
		if (file === REPO_FILE) {
			if (text === null) return [];
			const { verify, merge_command, hooks } = parse(text, { ...settings, verify: [], merge_command: [], hooks: NO_HOOKS });
			return [verify, merge_command, ...Object.values(hooks)].filter((argv) => argv.length > 0);
		}
		const recipe = files.find((one) => one.file === file);
		if (recipe === undefined) return [];
		return readRecipeText(recipe.text, recipe.name, file).steps.flatMap(({ template: { command } }) =>
			Array.isArray(command) ? [command.map(String)] : [],
		);
	} catch {
		return [];
	}
}
const NO_HOOKS = { after_create: [], before_run: [], after_run: [], before_remove: [] };

/** The record of trust in the repo's current files. `shown`: the digest of what the caller has seen. */
export function trustNow(repo: string, settings: WholeRepo, shown: string | undefined): Trust {
	const { digests, ...found } = filesOf(settings.path);
	const { file } = withRepoFile({ ...settings, trusted: true });
	const problem = file.state === "bad" ? file.problem : (found.unusable ?? found.problem);
	if (problem !== null)
		throw new SluiceError("invalid", `repo ${repo} cannot be trusted: ${problem}`, { field: "name", hint: trustHint(repo, "bad") });
	if (digests.size === 0)
		throw new SluiceError("not_found", `repo ${repo} has no sluice.yml and no recipes to trust`, {
			field: "name",
			hint: "its settings are in config.yml",
		});
	if (shown !== undefined && shown !== digestOf(digests))
		throw new SluiceError("conflict", `the files of repo ${repo} have changed since they were shown`, {
			field: "digest",
			hint: `look again: sluice repo show ${repo}`,
		});
	return trustLines(digests);
}

/** For the check-up: repos whose files are not in force, because they changed or were never trusted. */
export function trustChecks(repos: readonly (readonly [name: string, settings: WholeRepo])[]): Checkup[] {
	return repos.flatMap(([name, settings]): Checkup[] => {
		const found = filesOf(settings.path);
		const wrong = trustProblem(name, settings.trusted, found);
		if (wrong === null) return [];
		// Not trusted yet may be what the owner wants.
		const isUsable = found.problem === null && found.unusable === null;
		return [{ name: `repo ${name}`, ok: settings.trusted === false && isUsable, ...wrong }];
	});
}
