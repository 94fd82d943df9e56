// Makes a failing list of operations as short as it gets (delta debugging), then its jobs as plain.

import type { JobPlan, Op, Plan } from "./operation.ts";
import { runPlan, type SeedOptions } from "./run-seed.ts";

/** The kind of failure, without its numbers: shrinking must not wander off to another bug. */
export const gist = (message: string) =>
	message
		.replace(/^(at operation \d+ \([a-z_]+\)|in the liveness phase): /, "")
		.replace(/\d+/g, "#")
		.replace(/"[^"]*"/g, "…")
		.slice(0, 60);

export async function shrink(
	plan: Plan,
	message: string,
	options: SeedOptions,
	report: (left: number) => void,
): Promise<{ plan: Plan; message: string }> {
	const wanted = gist(message);
	let best = { plan, message };
	const fails = async (ops: Op[]): Promise<boolean> => {
		const candidate: Plan = { ...best.plan, ops };
		const { failure } = await runPlan(structuredClone(candidate), options);
		if (failure === undefined || gist(failure.message) !== wanted) return false;
		best = { plan: candidate, message: failure.message };
		return true;
	};
	await minimise(best.plan.ops, fails, report);
	for (let again = true; again; ) {
		again = false;
		for (const [index, op] of best.plan.ops.entries()) {
			for (const simpler of simplifications(op)) {
				const ops = best.plan.ops.with(index, simpler);
				if (await fails(ops)) {
					again = true;
					break;
				}
			}
			if (again) break;
		}
		report(best.plan.ops.length);
	}
	return best;
}

/** ddmin: drop ever smaller pieces as long as the failure stays. */
async function minimise(all: Op[], fails: (ops: Op[]) => Promise<boolean>, report: (left: number) => void): Promise<void> {
	let ops = all;
	let size = Math.ceil(ops.length / 2);
	while (size >= 1) {
		let dropped = false;
		for (let from = 0; from < ops.length; ) {
			const rest = [...ops.slice(0, from), ...ops.slice(from + size)];
			if (rest.length < ops.length && (await fails(rest))) {
				ops = rest;
				dropped = true;
				report(ops.length);
			} else from += size;
		}
		if (!dropped || size > 1) size = size === 1 && !dropped ? 0 : Math.max(1, Math.floor(size / 2));
	}
}

/** The same operation with one thing less. */
function* simplifications(op: Op): Generator<Op> {
	if (op.fault !== undefined) {
		const { fault: _, ...rest } = op;
		yield rest as Op;
	}
	if (op.via !== undefined) {
		const { via: _, ...rest } = op;
		yield rest as Op;
	}
	if (op.kind === "together")
		for (const [index] of op.ops.entries()) if (op.ops.length > 1) yield { ...op, ops: op.ops.filter((_, at) => at !== index) };
	if (op.kind === "add") for (const job of plainer(op.job)) yield { ...op, job };
	if (op.kind === "apply") {
		for (const [index, plan] of op.jobs.entries()) {
			if (op.jobs.length > 1 && op.jobs.length < 30) yield { ...op, jobs: op.jobs.filter((_, at) => at !== index) };
			if (op.jobs.length < 30) for (const job of plainer(plan)) yield { ...op, jobs: op.jobs.with(index, job) };
		}
	}
}

const KEEP = ["command", "agent", "prompt", "payload", "name"];

function* plainer(plan: JobPlan): Generator<JobPlan> {
	for (const field of ["runnable_in", "deadline_in", "after", "after_names", "after_missing", "parent", "needs_jobs"] as const) {
		if (plan[field] === undefined) continue;
		const { [field]: _, ...rest } = plan;
		yield rest as JobPlan;
	}
	for (const field of Object.keys(plan.input)) {
		if (KEEP.includes(field)) continue;
		const input = { ...plan.input };
		delete input[field as keyof typeof input];
		yield { ...plan, input };
	}
}
