// sluice export: all jobs and their events, one JSON document per line.

import { writeJson } from "../../../core/text/json-text.ts";
import type { Call } from "../../command.ts";
import type { Io } from "../../io.ts";

const PAGE = 500;

export async function run(_call: Call, io: Io): Promise<undefined> {
	let after = 0;
	for (;;) {
		const { jobs } = await io.ask("job.list", { all: true, limit: PAGE, after });
		// The requests for one page are sent together.
		const histories = await Promise.all(jobs.map(({ id }) => io.ask("job.history", { id })));
		jobs.forEach((job, index) => {
			io.print.out(writeJson({ type: "job", schema_version: 1, ...job }));
			for (const event of histories[index]?.events ?? []) io.print.out(JSON.stringify({ type: "event", schema_version: 1, ...event }));
		});
		const last = jobs.at(-1);
		if (last === undefined || jobs.length < PAGE) return undefined;
		after = last.id;
	}
}
