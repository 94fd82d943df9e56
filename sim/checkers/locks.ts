// Exclusive locks are never shared; shared ones only with shared ones. The engine's list of locks names exactly the running jobs as holders.

import { type Checker, must, running } from "./moment.ts";

const textOf = (held: readonly { key: string; job: number; mode: string }[]): string =>
	held
		.map(({ key, job, mode }) => `${key} ${mode}: ${job}`)
		.sort()
		.join(", ");

export const locks: Checker = {
	name: "locks",
	async check(moment) {
		const held = running(moment).flatMap((job) => (job.locks ?? []).map((lock) => ({ ...lock, job: job.id })));
		for (const one of held) {
			const clash = held.find(
				(other) => other.job !== one.job && other.key === one.key && (other.mode === "exclusive" || one.mode === "exclusive"),
			);
			must(clash === undefined, `lock ${one.key} is held by job ${one.job} (${one.mode}) and job ${clash?.job} (${clash?.mode})`);
		}
		if (moment.thorough || moment.step % 5 === 0) {
			const stored = (await moment.scheduler.locks()).flatMap(({ key, holders }) => holders.map((holder) => ({ ...holder, key })));
			const [listed, expected] = [textOf(stored), textOf(held)];
			must(listed === expected, `the list of locks says "${listed}", and by the running jobs it is "${expected}"`);
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
