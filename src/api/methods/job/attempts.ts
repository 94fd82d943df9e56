// job.attempts: when each run of some jobs began and ended, from their events.

import type { EventRow } from "../../../core/event.ts";
import { type At, doc, resolve } from "../../call.ts";
import { maybeTime, rfc3339 } from "../../documents.ts";
import type { AttemptDocument } from "../../protocol/job.ts";
import type { Params, Result } from "../../protocol.ts";

type Seen = { attempt: number; started_at: number; ended_at: number | null; end: string | null };

function runsIn(events: readonly EventRow[]): Seen[] {
	const runs: Seen[] = [];
	for (const event of events) {
		const last = runs.at(-1);
		if (event.kind === "started") runs.push({ attempt: event.data.attempt, started_at: event.at, ended_at: null, end: null });
		else if ((event.kind === "ended" || event.kind === "requeued") && last && last.ended_at === null) {
			last.ended_at = event.at;
			last.end = event.data.exit_kind ?? event.data.to;
		}
	}
	return runs;
}

export async function attempts({ ids }: Params<"job.attempts">, { context }: At): Promise<Result<"job.attempts">> {
	const found: AttemptDocument[] = [];
	for (const ref of ids) {
		const job = await resolve(context, ref).catch(() => null);
		// A job that was forgotten meanwhile is left out.
		const events = job === null ? [] : await context.scheduler.history(job).catch(() => []);
		for (const { attempt, started_at, ended_at, end } of runsIn(events))
			found.push({ job: job ?? 0, attempt, started_at: rfc3339(started_at), ended_at: maybeTime(ended_at), end });
	}
	return doc({ attempts: found });
}
