// All jobs that a filter finds, page by page, so that no answer of the scheduler gets too long.

import type { JobView, Scheduler } from "./scheduler.ts";

const PAGE = 1000;

type Filter = Omit<NonNullable<Parameters<Scheduler["list"]>[0]>, "after" | "limit">;

export async function* everyJob({ list }: Pick<Scheduler, "list">, filter: Filter = {}): AsyncGenerator<JobView> {
	for (let after = 0; ; ) {
		const page = await list({ ...filter, after, limit: PAGE });
		yield* page;
		const last = page.at(-1);
		if (last === undefined || page.length < PAGE) return;
		after = last.id;
	}
}
