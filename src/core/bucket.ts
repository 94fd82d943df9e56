// A bucket: ready jobs that pass or fail the bucket gates together, because everything those gates look at is the same for all of them.

import type { Job, JobKind } from "./job.ts";

export type Bucket = {
	id: number;
	kind: JobKind;
	lane: string;
	repo?: string;
	account?: string;
	prefer?: string;
	owner?: string;
	agent?: string;
	uses?: Record<string, number>;
	labels?: string[];
	stays?: string;
	forced?: true;
	/** Its jobs leave work that is merged, so that a person may have to look at it. */
	merges?: true;
	/** The bucket belongs to an `apply` that is not committed yet: none of its jobs may start. */
	stage?: number;
	/** Jobs ready now. */
	ready: number;
};

type Traits = Pick<
	Job,
	"kind" | "lane" | "repo" | "account" | "prefer" | "owner" | "agent" | "uses" | "host_labels" | "stays" | "forced" | "will_merge"
>;

/** Equal keys mean equal answers of the bucket gates. Plain jobs get a short key, because every add computes one. */
export function bucketKey(job: Traits, stage?: number): string {
	const plain = `${job.kind}/${job.lane}`;
	if (
		job.repo === undefined &&
		job.account === undefined &&
		job.prefer === undefined &&
		job.owner === undefined &&
		job.agent === undefined &&
		job.uses === undefined &&
		job.host_labels === undefined &&
		job.stays === undefined &&
		job.forced === undefined &&
		stage === undefined
	)
		return plain;
	const uses = job.uses && Object.entries(job.uses).sort(([a], [b]) => (a < b ? -1 : 1));
	const labels = job.host_labels && [...job.host_labels].sort();
	const more = job.stays === undefined ? "" : `/${job.stays}`;
	const merges = job.will_merge ? ["merges"] : [];
	const parts = [job.repo, job.account, job.prefer, job.owner, job.agent, uses, labels, job.forced, stage, ...merges];
	return `${plain}/${JSON.stringify(parts)}${more}`;
}

export function bucketOf(job: Traits, id: number, stage?: number): Bucket {
	const bucket: Bucket = { id, kind: job.kind, lane: job.lane, ready: 0 };
	if (job.repo !== undefined) bucket.repo = job.repo;
	if (job.account !== undefined) bucket.account = job.account;
	if (job.prefer !== undefined) bucket.prefer = job.prefer;
	if (job.owner !== undefined) bucket.owner = job.owner;
	if (job.agent !== undefined) bucket.agent = job.agent;
	if (job.uses !== undefined) bucket.uses = job.uses;
	if (job.host_labels !== undefined) bucket.labels = job.host_labels;
	if (job.stays !== undefined) bucket.stays = job.stays;
	if (job.forced) bucket.forced = true;
	if (job.will_merge) bucket.merges = true;
	if (stage !== undefined) bucket.stage = stage;
	return bucket;
}
