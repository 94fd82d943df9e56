// Gate `review`: no more than `max_open` jobs of the repo have ended with work that waits for a person (`isUnreviewed` in job.ts). Only jobs whose own work is to
// be merged are refused: others add nothing to what has to be looked at.

import type { Config } from "../../config.ts";
import { type BucketGate, pass, refuse } from "../gate.ts";

/** The key of the count among the usages. */
export const reviewKey = (repo: string): string => `review:${repo}`;

/** The repo's own cap, else that of all repos; null = none. */
export function reviewCap({ repos, review }: Pick<Config, "repos" | "review">, repo: string): number | null {
	const own = Object.hasOwn(repos, repo) ? repos[repo]?.max_open : undefined;
	return own === undefined ? review.max_open : own;
}

export const review: BucketGate = {
	name: "review",
	ask({ repo, merges }, { config, usage }) {
		if (repo === undefined || !merges) return pass;
		const cap = reviewCap(config, repo);
		const open = usage.get(reviewKey(repo)) ?? 0;
		if (cap === null || open < cap) return pass;
		return [
			refuse("review", "review", `repo:${repo}`, `repo ${repo} has ${open} unreviewed of at most ${cap}: their work waits for a person`),
		];
	},
};
