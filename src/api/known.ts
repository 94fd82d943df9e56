// Names that callers filter by: a misspelt one is refused, because it would find nothing.

import { SluiceError } from "../core/errors.ts";
import { suggest } from "../core/input/nearest.ts";
import type { Context } from "./context.ts";

/** The refusal of a name that is not there: it suggests the nearest name, else `otherwise`. */
export const noSuch = (what: string, name: string, all: readonly string[], otherwise: string, field = "name"): SluiceError =>
	new SluiceError("not_found", `${field}: there is no ${what} "${name}"`, { field, hint: suggest(name, all, otherwise) });

export function mustBeKnown(what: "lane" | "repo" | "agent" | "batch", name: string | undefined, all: readonly string[]): void {
	if (name === undefined || all.includes(name)) return;
	const none = `there are no ${what === "batch" ? "batches" : `${what}s`} yet`;
	const otherwise = all.length === 0 ? none : all.length <= 20 ? `known: ${all.join(", ")}` : `sluice ${what} list shows them`;
	throw noSuch(what, name, all, otherwise, what);
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
