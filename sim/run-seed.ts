// One seed: from its number to a verdict.

import { Drive } from "./drive.ts";
import type { Place } from "./engine/place.ts";
import { liveness } from "./liveness.ts";
import type { Marks } from "./marks.ts";
import type { Op, Plan } from "./operation.ts";
import { fleetPlanFor } from "./workload/fleet-plan.ts";
import { planFor } from "./workload.ts";

export type Failure = { seed: number; step: number; op: Op | undefined; message: string };
export type Verdict = { failure?: Failure; steps: number; marks: Marks };
/** `place`: another store than the plan's own. */
export type SeedOptions = { fleet?: boolean; steps?: number; thorough?: boolean; skip?: string[]; place?: (seed: number) => Place };

export async function runSeed(seed: number, options: SeedOptions = {}): Promise<Verdict> {
	return runPlan(planOf(seed, options), options);
}

/** The plans of a fleet are others than those of the same numbers without one. */
export const planOf = (seed: number, { fleet, steps }: SeedOptions): Plan => (fleet ? fleetPlanFor(seed, steps) : planFor(seed, steps));

/** Every so many seeds are looked at in full at each step, `why` of every waiting job above all; the others by samples. */
const THOROUGH = 4;

export async function runPlan(plan: Plan, options: SeedOptions = {}): Promise<Verdict> {
	const drive = new Drive(plan, { ...options, thorough: options.thorough === true || plan.seed % THOROUGH === 0 });
	let op: Op | undefined;
	try {
		await drive.begin();
		for (op of plan.ops) await drive.play(op);
		op = undefined;
		await liveness(drive);
		return { steps: drive.steps, marks: drive.marks };
	} catch (error) {
		const where = op === undefined ? "in the liveness phase" : `at operation ${op.id} (${op.kind})`;
		const text =
			error instanceof Error
				? error.name === "Disagreement" || error.name === "CheckFailed"
					? error.message
					: (error.stack ?? error.message)
				: String(error);
		return { failure: { seed: plan.seed, step: drive.steps, op, message: `${where}: ${text}` }, steps: drive.steps, marks: drive.marks };
	} finally {
		await drive.end().catch(() => undefined);
	}
}
