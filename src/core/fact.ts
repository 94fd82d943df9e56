// Keys of the facts that jobs wait for, and how artifacts are written.

import { nth } from "./errors.ts";
import type { Condition, Job } from "./job.ts";
import { isOneOf } from "./text/one-of.ts";

export const ARTIFACT_KINDS = ["file", "branch", "doc", "commits", "ahead", "sentinel", "patch", "job", "custom", "probe"] as const;
type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/** Markers are in the store, `job:` follows from the job's end; a host has to probe all other artifacts. */
export const isMarker = (artifact: string) => artifact.startsWith("custom:") || artifact.startsWith("sentinel:");

/** `job:7`, `patch:7` → 7. */
export function jobOfArtifact(artifact: string): number | undefined {
	const match = /^(?:job|patch):(\d+)$/.exec(artifact);
	return match ? Number(match[1]) : undefined;
}

/** `patch:build` → build: a job's name, which `add` replaces by its number. */
export function nameOfArtifact(artifact: string): string | undefined {
	const match = /^(?:job|patch):([\p{L}\p{N}_][\p{L}\p{N}_.@+-]*)$/u.exec(artifact);
	return match && !/^\d+$/.test(nth(match, 1)) ? match[1] : undefined;
}

/** What is wrong with an artifact's text; undefined if it is valid. */
export function artifactFault(text: string): string | undefined {
	const colon = text.indexOf(":");
	const kind = text.slice(0, colon);
	const value = text.slice(colon + 1);
	if (colon < 1 || !isOneOf(kind, ARTIFACT_KINDS))
		return `an artifact is written kind:value, with one of the kinds ${ARTIFACT_KINDS.join(", ")}`;
	if (value === "") return `nothing after "${kind}:"`;
	switch (kind as ArtifactKind) {
		case "job":
		case "patch":
			return /^[1-9]\d{0,14}$/.test(value) || nameOfArtifact(text) !== undefined
				? undefined
				: `${kind}: takes the number or the name of a job`;
		case "doc":
			return /^[^:]+:.+$/.test(value) ? branchFault(value.slice(0, value.indexOf(":"))) : "doc: is written doc:<branch>:<path>";
		case "custom":
			return /^[^:]+:.+$/.test(value) ? undefined : "custom: is written custom:<type>:<key>";
		case "branch":
		case "commits":
		case "ahead":
			return branchFault(value);
		default:
			return undefined;
	}
}

/** Git's own rules for branch names, and nothing that a program could take for an option. */
export function branchFault(name: string): string | undefined {
	if (name.startsWith("-")) return `the branch name "${name}" looks like an option`;
	const control = [...name].some((char) => char < "!" || char === "\u007f");
	if (control || /[~^:?*[\\]|\.\.|@\{|\/\/|^\/|\/$|\.$|\.lock(\/|$)|(^|\/)\.|^@$/.test(name))
		return `"${name}" is not a branch name that git accepts`;
	return undefined;
}

export function conditionText(condition: Condition): string {
	switch (condition.kind) {
		case "clean_worktree":
			return "clean_worktree";
		case "branch_exists":
			return `branch_exists:${condition.branch}`;
		case "command":
			return `command:${JSON.stringify(condition.argv)}`;
	}
}

/** Only a repository can answer it. */
export const isOfRepo = (artifact: string): boolean => /^(?:branch|doc|commits|ahead):/.test(artifact);

/** The fact's key. Artifacts of git and the file system mean something else in each repo, so their keys include it. */
export function artifactKey(artifact: string, repo: string | undefined): string {
	const shared = isMarker(artifact) || jobOfArtifact(artifact) !== undefined || repo === undefined;
	return shared ? `artifact:${artifact}` : `artifact:${artifact}@${repo}`;
}
export const headKey = (job: Pick<Job, "repo" | "pinned_head">) =>
	`head:${job.repo ?? job.pinned_head?.folder ?? ""}:${job.pinned_head?.branch ?? ""}`;
export const conditionKey = (condition: Condition, job: Job) =>
	`condition:${conditionText(condition)}${job.repo === undefined ? "" : `@${job.repo}`}`;
export const itemKey = (item: string) => `item:${item}`;

/** Whether a host has to probe the fact; the store knows the rest. */
export const isProbed = (key: string) =>
	!(key.startsWith("artifact:custom:") || key.startsWith("artifact:sentinel:") || key.startsWith("artifact:job:"));

/** The fact whether a job's runs have left a patch. */
export const patchKey = (job: number | null): string => `artifact:patch:${job}`;

/** The job whose patch this fact is about. */
export function jobOfPatch(key: string): number | undefined {
	const match = /^artifact:patch:(\d+)$/.exec(key);
	return match ? Number(match[1]) : undefined;
}
