// Every waiting job has reasons, each one true by the model, and every gate that refuses it by the model is named.

import type { Why } from "../../src/contracts/scheduler.ts";
import type { Reason } from "../../src/core/reason.ts";
import { Marks } from "../marks.ts";
import { late, pace } from "../model/gates/late.ts";
import { lockRefusals } from "../model/gates/locks.ts";
import { early, type Refusal } from "../model/gates/refusal.ts";
import { prioritySum } from "../model/order.ts";
import { find, isWaiting, type ModelJob, type State, waiting } from "../model/state.ts";
import { type Checker, CheckFailed, type Moment, must } from "./moment.ts";

export const allRefusals = (state: State, job: ModelJob): Refusal[] => [
	...early(state, job, state.now),
	...lockRefusals(state, job),
	...late(state, job, state.now),
	...pace(state, state.now, "perhaps"),
	...spawn(job, state.now),
];

/** The last start never became a process; it is tried again after its back-off. */
const spawn = (job: ModelJob, now: number): Refusal[] =>
	job.dispatch_failures > 0 && (job.backoff_until ?? 0) > now ? [{ gate: "spawn", codes: ["dispatch_failed"] }] : [];

const matches = (reason: Reason, refusal: Refusal) =>
	reason.gate === refusal.gate &&
	refusal.codes.includes(reason.code) &&
	(refusal.subject === undefined || subjectFits(reason.subject, refusal.subject));

const subjectFits = (engine: string, model: string) => engine === model || engine.endsWith(`:${model}`) || model.endsWith(`:${engine}`);

const tell = (list: Refusal[]) =>
	list
		.map((refusal) => `${refusal.gate}/${refusal.codes.join("|")}${refusal.subject === undefined ? "" : ` ${refusal.subject}`}`)
		.join(", ") || "none";

/** Null when every answer is true by this state. */
export function untrueReasons(state: State, answers: ReadonlyMap<number, Why>): string | null {
	const marks = new Marks();
	try {
		for (const job of state.jobs) {
			const why = answers.get(job.id);
			if (why !== undefined && isWaiting(job)) checkJob({ state, marks }, job, why);
		}
		return null;
	} catch (error) {
		if (error instanceof CheckFailed) return error.message;
		throw error;
	}
}

function checkJob({ state, marks }: Pick<Moment, "state" | "marks">, job: ModelJob, why: Why): void {
	const refusals = allRefusals(state, job);
	must(why.reasons.length > 0, `why ${job.id}: no reason at all; the model says ${tell(refusals)}`);
	const said = why.reasons.map((reason) => `${reason.gate}/${reason.code} ${reason.subject}`).join(", ");
	// A payload is not for hosts: it is a worker that it waits for, then.
	const turn = job.kind === "payload" ? "worker" : "turn";
	if (refusals.every((refusal) => refusal.optional) && why.reasons[0]?.code === turn) {
		must(why.reasons.length === 1, `why ${job.id}: ${said}`);
		marks.hit(`code:${turn}`);
		return;
	}
	if (refusals.length === 0) {
		must(why.reasons.length === 1 && why.reasons[0]?.code === turn, `why ${job.id}: ${said}; by the model nothing but its turn is missing`);
		marks.hit(`code:${turn}`);
	}
	for (const reason of why.reasons) {
		if (refusals.length === 0) break;
		must(
			refusals.some((refusal) => matches(reason, refusal)),
			`why ${job.id}: "${reason.gate}/${reason.code} ${reason.subject}: ${reason.detail}" is not true by the model (${tell(refusals)})`,
		);
		must(reason.detail !== "" && reason.subject !== "", `why ${job.id}: ${reason.gate}/${reason.code} without detail or subject`);
		marks.hit(`gate:${reason.gate}`);
		marks.hit(`code:${reason.code}`);
		if (reason.gate === "locks") checkHolders(state, job, reason);
	}
	for (const refusal of refusals) {
		if (refusal.optional) continue;
		must(
			why.reasons.some((reason) => matches(reason, refusal)),
			`why ${job.id}: says ${said}, and not ${tell([refusal])}`,
		);
		const exact = why.reasons.find((reason) => matches(reason, refusal));
		if (refusal.detail !== undefined && exact !== undefined)
			must(exact.detail.includes(refusal.detail), `why ${job.id}: "${exact.detail}" should say "${refusal.detail}"`);
	}
	if (job.ready_at !== undefined) {
		const total = prioritySum(state, job, state.now);
		must(why.priority.total === total, `why ${job.id}: priority ${why.priority.total}, the model says ${total}`);
		const sum = why.priority.terms.reduce((all, term) => all + term.value, 0);
		must(sum === total, `why ${job.id}: the terms add up to ${sum}, not to ${total}`);
	}
}

/** A lock's holders run, or wait with the key reserved. */
function checkHolders(state: State, job: ModelJob, reason: Reason): void {
	for (const holder of reason.holder ?? []) {
		const id = Number(holder.replace(/\D+/g, ""));
		const other = find(state, id);
		must(
			other !== undefined && (other.status === "running" || isWaiting(other)),
			`why ${job.id}: lock holder ${holder} is ${other?.status ?? "nobody"}`,
		);
	}
}

export const reasons: Checker = {
	name: "reasons",
	async check(moment) {
		const answers = await moment.whys();
		for (const job of waiting(moment.state)) {
			const why = answers.get(job.id);
			if (why !== undefined) checkJob(moment, job, why);
			else must(!moment.thorough, `job ${job.id} waits and was not asked about`);
		}
	},
};
