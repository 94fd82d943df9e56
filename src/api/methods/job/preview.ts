// job.preview: what `job.add` would say, when the job would start, and what such jobs cost. Adds nothing.

import { SluiceError } from "../../../core/errors.ts";
import { given } from "../../../core/given.ts";
import type { JobInput } from "../../../core/job.ts";
import { type At, doc } from "../../call.ts";
import { frozenIn } from "../../context.ts";
import { rangeDocument } from "../../documents/forecast.ts";
import type { PreviewDocument } from "../../protocol/job.ts";

const COST_SPAN_MS = 30 * 86_400_000;

/** `check`: the checks of `job.add` that are not the scheduler's; returns warnings. */
export async function preview(input: JobInput, at: At, check: (jobs: readonly JobInput[]) => Promise<string[]>): Promise<PreviewDocument> {
	const { scheduler, intake } = at.context;
	const { jobs, warnings } =
		input.recipe === undefined && input.item === undefined ? { jobs: [input], warnings: [] } : await intake.expand(input);
	const [first = input] = jobs;
	// First the scheduler's checks: the others rely on the form of the fields.
	const said = await checked(jobs, at);
	const more = await check(jobs);
	const forecast = await scheduler.forecast({ also: first, frozen: frozenIn(at.context) });
	const place = forecast.jobs.findIndex(({ id }) => id === 0);
	const found = forecast.jobs[place];
	return doc({
		jobs: jobs.length,
		warnings: [...warnings, ...said, ...more],
		ahead: forecast.jobs.slice(0, place).filter(({ status, stuck }) => status !== "running" && stuck === null).length,
		start: rangeDocument(found?.start ?? null),
		end: rangeDocument(found?.end ?? null),
		stuck: found?.stuck ?? (found?.end ? null : (forecast.notes[0] ?? null)),
		basis: found?.basis ?? null,
		cost: await usualCost(first, at),
	});
}

/** Checks the jobs as a manifest, and names a field as `job.add` would: `lane`, not `jobs[0].lane` or `jobs.NAME.lane`. */
async function checked(jobs: JobInput[], { context: { scheduler }, by }: At): Promise<string[]> {
	const names = ["jobs[0].", ...(jobs[0]?.name === undefined ? [] : [`jobs.${jobs[0].name}.`])];
	const own = (text: string) => names.reduce((left, name) => left.replaceAll(name, ""), text);
	try {
		const { refusal, warnings = [] } = await scheduler.apply({ jobs }, { by, check: true });
		if (refusal) throw new SluiceError("conflict", refusal.message, { field: "name", ...given({ hint: refusal.hint ?? undefined }) });
		return warnings;
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		const { code, message, field, hint, also = [] } = error;
		throw new SluiceError(code, own(message), {
			field: field === undefined ? undefined : own(field),
			hint,
			also: also.map((one) => ({ ...one, message: own(one.message), field: own(one.field ?? "") })),
		});
	}
}

/** From the rollups: only groups that ended with a cost say anything about it. */
async function usualCost({ model, agent, lane }: JobInput, { context }: At): Promise<PreviewDocument["cost"]> {
	const since = context.clock.now() - COST_SPAN_MS;
	for (const [by, name] of [
		["model", model],
		["agent", agent],
		["lane", agent === undefined ? undefined : (lane ?? "default")],
	] as const) {
		if (name === undefined) continue;
		const { groups } = await context.scheduler.stats({ since, by });
		const total = groups.find((group) => group.name === name)?.total;
		if (total && total.ended > 0 && total.cost_micro > 0)
			return { micro: Math.round(total.cost_micro / total.ended), jobs: total.ended, of: `${by} ${name}` };
	}
	return null;
}
