// The part of a job's input about facts: what it needs and produces, the branch it is pinned to, its conditions.

import type { Config } from "../config.ts";
import { SluiceError } from "../errors.ts";
import { isOfRepo, nameOfArtifact } from "../fact.ts";
import type { Job } from "../job.ts";
import type { CheckedJob } from "../schema/job.ts";
import { withoutEnd } from "../text/text-end.ts";
import * as check from "./check.ts";

type At = (key: string) => string;

export function addNeeds(job: Job, given: CheckedJob, config: Config, at: At): void {
	for (const key of ["needs", "produces"] as const) {
		const all = given[key]?.map((artifact, index) => {
			const field = `${at(key)}[${index}]`;
			if (job.repo === undefined && isOfRepo(artifact)) throw withoutRepo(field, `${check.shown(artifact)} is something in a repo`);
			if (key === "produces" && nameOfArtifact(artifact) !== undefined) throw check.wrong(field, "takes the number of a job");
			return job.repo === undefined ? inFolder(artifact, given.cwd) : artifact;
		});
		if (all?.length) job[key] = [...new Set(all)];
	}
	if ((given.on_missing ?? config.on_missing) === "wait") job.on_missing = "wait";
	if (given.pinned_head !== undefined) {
		job.pinned_head = given.pinned_head;
		if (job.repo === undefined) {
			if (!given.cwd?.startsWith("/")) throw withoutRepo(at("pinned_head"), "a branch is pinned in a repo");
			job.pinned_head.folder = given.cwd;
		}
	}
	if (given.conditions?.length) {
		const ofRepo = given.conditions.find(({ kind }) => kind !== "command");
		if (job.repo === undefined && ofRepo) throw withoutRepo(at("conditions"), `${ofRepo.kind} asks something of a repo`);
		job.conditions = given.conditions;
	}
}

const withoutRepo = (field: string, what: string) =>
	new SluiceError("impossible", `${field}: ${what}, and the job names none: it could never start`, {
		field,
		hint: "name the repo: --repo NAME; sluice repo list shows them",
	});

/** A relative file of a job without a repo is in its own folder; two jobs mean the same file only if their folders agree. */
const inFolder = (artifact: string, cwd: string | undefined): string =>
	/^file:[^/]/.test(artifact) && cwd?.startsWith("/") ? `file:${withoutEnd(cwd, "/")}/${artifact.slice("file:".length)}` : artifact;
