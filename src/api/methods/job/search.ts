// job.search: looks through all jobs from the newest down, page by page, and stops when it has found enough or has taken long enough.

import type { JobView } from "../../../contracts/scheduler.ts";
import { only, shownAll } from "../../call.ts";
import type { Context } from "../../context.ts";
import type { Params, Result } from "../../protocol.ts";

const PAGE = 500;
/** A caller gets what was found by then, and goes on below it. */
const PATIENCE_MS = 2000;

type Found = Omit<Result<"job.search">, "schema_version">;

export async function search({ text, limit = 100, before, fields }: Params<"job.search">, context: Context): Promise<Found> {
	const { scheduler, clock } = context;
	const seq = await scheduler.lastEvent();
	const words = text.toLowerCase().split(/\s+/).filter(Boolean);
	const until = clock.monotonic() + PATIENCE_MS;
	const found: JobView[] = [];
	for (let below = before ?? Number.MAX_SAFE_INTEGER; ; ) {
		const page = (await scheduler.list({ all: true, before: below, limit: PAGE })).reverse();
		for (const job of page) {
			below = job.id;
			if (matches(job, words)) found.push(job);
			if (found.length >= limit) break;
		}
		const isOver = page.length < PAGE;
		if (isOver || found.length >= limit || clock.monotonic() > until) {
			const jobs = shownAll(context, found);
			const complete = isOver && below === (page.at(-1)?.id ?? below);
			return { jobs: fields === undefined ? jobs : jobs.map((job) => only(job, fields)), seq, looked: below, complete };
		}
	}
}

/** Whether each word occurs in what a person knows of the job. */
export function matches(job: JobView, words: readonly string[]): boolean {
	const { id, name, lane, repo, batch, agent, owner, item, spec } = job;
	const parts = [`#${id}`, name, spec.title, spec.prompt, spec.command?.join(" "), lane, repo, batch, agent, owner, item, spec.worktree];
	const text = parts
		.filter((part) => part !== undefined)
		.join("\n")
		.toLowerCase();
	return words.every((word) => text.includes(word));
}
