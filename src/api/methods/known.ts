// Names that callers filter by: a misspelt one is refused, because it would find nothing.

import { SluiceError } from "../../core/errors.ts";
import { nearest } from "../../core/input/nearest.ts";
import type { Context } from "../context.ts";

export function mustBeKnown(what: "lane" | "repo" | "agent" | "batch", name: string | undefined, all: readonly string[]): void {
	if (name === undefined || all.includes(name)) return;
	const guess = nearest(name, all);
	const few = all.length > 0 && all.length <= 20;
	throw new SluiceError("not_found", `${what}: there is no ${what} "${name}"`, {
		field: what,
		hint: guess
			? `did you mean "${guess}"?`
			: few
				? `known: ${all.join(", ")}`
				: all.length > 0
					? `sluice ${what} list shows them`
					: `there ${what === "batch" ? "are no batches" : `are no ${what}s`} yet`,
	});
}

/** For filters of jobs: a lane or repo may be gone from the settings while it still has jobs. */
export async function mustBeKnownScope(
	given: { lane?: string | undefined; repo?: string | undefined; batch?: string | undefined },
	context: Context,
): Promise<void> {
	const { scheduler } = context;
	const { lanes, repos } = scheduler.config();
	for (const [what, all] of [
		["lane", lanes],
		["repo", repos],
	] as const) {
		const name = given[what];
		if (name === undefined || Object.hasOwn(all, name)) continue;
		const some = await scheduler.list({ [what]: name, all: true, limit: 1 });
		if (some.length === 0) mustBeKnown(what, name, Object.keys(all));
	}
	if (given.batch !== undefined)
		mustBeKnown(
			"batch",
			given.batch,
			(await scheduler.batches()).map(({ name }) => name),
		);
}
