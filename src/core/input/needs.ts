// The part of a job's input about facts: what it needs and produces, the branch it is pinned to, its conditions.

import type { Config } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { artifactFault, isOfRepo, nameOfArtifact } from "../fact.ts";
import type { Condition, Job, JobInput } from "../job.ts";
import { withoutEnd } from "../text/text-end.ts";
import * as check from "./check.ts";
import { argv, branch } from "./spec.ts";

type At = (key: string) => string;

export function addNeeds(job: Job, input: JobInput, config: Config, at: At): void {
	for (const key of ["needs", "produces"] as const) {
		if (input[key] === undefined) continue;
		const all = check.list(input[key], at(key), 1000).map((one, index) => {
			const field = `${at(key)}[${index}]`;
			const artifact = check.text(one, field, { max: 1000, lines: "one" });
			const fault = artifactFault(artifact);
			if (fault !== undefined) throw check.wrong(field, fault);
			if (job.repo === undefined && isOfRepo(artifact)) throw withoutRepo(field, `${check.shown(artifact)} is something in a repo`);
			if (key === "produces" && nameOfArtifact(artifact) !== undefined) throw check.wrong(field, "takes the number of a job");
			return job.repo === undefined ? inFolder(artifact, input.cwd) : artifact;
		});
		if (all.length > 0) job[key] = [...new Set(all)];
	}
	const onMissing = input.on_missing === undefined ? config.on_missing : check.oneOf(input.on_missing, ["block", "wait"], at("on_missing"));
	if (onMissing === "wait") job.on_missing = "wait";
	if (input.pinned_head !== undefined) {
		const pin = check.record(input.pinned_head, at("pinned_head"));
		check.knownKeys(pin, ["branch", "commit"], at("pinned_head"));
		const commit = check.word(pin.commit, `${at("pinned_head")}.commit`);
		if (!/^[0-9a-f]{4,64}$/.test(commit)) throw check.wrong(`${at("pinned_head")}.commit`, `${check.shown(commit)} is not a commit id`);
		job.pinned_head = { branch: branch(pin.branch, `${at("pinned_head")}.branch`), commit };
		if (job.repo === undefined) {
			if (typeof input.cwd !== "string" || !input.cwd.startsWith("/")) throw withoutRepo(at("pinned_head"), "a branch is pinned in a repo");
			job.pinned_head.folder = input.cwd;
		}
	}
	if (input.conditions !== undefined) {
		const all = check.list(input.conditions, at("conditions"), 100).map((one, index) => conditionOf(one, `${at("conditions")}[${index}]`));
		const ofRepo = all.find(({ kind }) => kind !== "command");
		if (job.repo === undefined && ofRepo) throw withoutRepo(at("conditions"), `${ofRepo.kind} asks something of a repo`);
		if (all.length > 0) job.conditions = all;
	}
}

const withoutRepo = (field: string, what: string) =>
	new SluiceError("impossible", `${field}: ${what}, and the job names none: it could never start`, {
		field,
		hint: "name the repo: --repo NAME; sluice repo list shows them",
	});

/** A relative file of a job without a repo is in its own folder; two jobs mean the same file only if their folders agree. */
const inFolder = (artifact: string, cwd: unknown): string =>
	/^file:[^/]/.test(artifact) && typeof cwd === "string" && cwd.startsWith("/")
		? `file:${withoutEnd(cwd, "/")}/${artifact.slice("file:".length)}`
		: artifact;

function conditionOf(value: unknown, field: string): Condition {
	if (value === "clean_worktree") return { kind: "clean_worktree" };
	if (typeof value === "string") {
		const match = /^branch_exists:(.+)$/.exec(value);
		if (match) return { kind: "branch_exists", branch: branch(match[1], field) };
		throw check.wrong(
			field,
			`${check.shown(value)} is not a condition`,
			'clean_worktree, branch_exists:<name>, or {kind: "command", argv: [...]}',
		);
	}
	const given = check.record(value, field);
	check.knownKeys(given, ["kind", "branch", "argv"], field);
	const kind = check.oneOf(given.kind, ["clean_worktree", "branch_exists", "command"], `${field}.kind`);
	if (kind === "command") return { kind, argv: argv(given.argv, `${field}.argv`) };
	return kind === "branch_exists" ? { kind, branch: branch(given.branch, `${field}.branch`) } : { kind };
}
