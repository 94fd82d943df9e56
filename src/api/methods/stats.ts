// The method of statistics: figures from the rollups.

import type { Stats } from "../../core/rollups/stats.ts";
import { doc, type Handlers } from "../call.ts";
import { maybeTime, rfc3339 } from "../documents.ts";
import type { StatsDocument } from "../protocol/stats.ts";

const statsDocument = ({ since, until, by, known_since, times, ...figures }: Stats): StatsDocument => ({
	since: rfc3339(since),
	until: rfc3339(until),
	per: by,
	known_since: maybeTime(known_since),
	times: times.map(rfc3339),
	...figures,
});

export const statsMethods: Handlers<"stats"> = {
	"stats.show": async ({ since, until, per, bucket }, { context }) =>
		doc(
			statsDocument(
				await context.scheduler.stats({ since: since as number | undefined, until: until as number | undefined, by: per, bucket }),
			),
		),
};
