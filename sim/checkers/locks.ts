// Exclusive locks are never shared; shared ones only with shared ones; whoever holds one is running.

import { type Checker, must, running } from "./moment.ts";

export const locks: Checker = {
	name: "locks",
	check(moment) {
		const held = running(moment).flatMap((job) => (job.locks ?? []).map((lock) => ({ ...lock, job: job.id })));
		for (const one of held) {
			const clash = held.find(
				(other) => other.job !== one.job && other.key === one.key && (other.mode === "exclusive" || one.mode === "exclusive"),
			);
			must(clash === undefined, `lock ${one.key} is held by job ${one.job} (${one.mode}) and job ${clash?.job} (${clash?.mode})`);
		}
		const items = [...moment.view.values()].filter(
			(job) => job.item !== undefined && !["succeeded", "failed", "cancelled", "blocked_by_dependency", "expired"].includes(job.status),
		);
		for (const job of items) {
			const other = items.find((mate) => mate.id !== job.id && mate.item === job.item && mate.chain !== job.chain);
			must(other === undefined, `item ${job.item} has two open chains: jobs ${job.id} and ${other?.id}`);
		}
	},
};
