// The table of operations: every change that the library makes, by name. Arguments and results are plain JSON data, so that another process can send them:
// keys that are undefined may vanish on the way.

import type { Charge } from "../../contracts/kernel.ts";
import type { RunOutput } from "../../contracts/output.ts";
import type { RunEnd, Scheduler } from "../../contracts/scheduler.ts";
import type { Op } from "../../contracts/store.ts";
import type { Granted } from "../../core/agents/permissions/allowing.ts";
import type { MergeReport, MergeStatus, StopKind } from "../../core/job.ts";
import type { VerdictWord } from "../../core/runs/verdict.ts";
import * as applying from "../apply/apply.ts";
import { editJob } from "../apply/edit.ts";
import * as stages from "../apply/stages.ts";
import { updateJobs } from "../apply/update.ts";
import * as agents from "../kernel/agents.ts";
import { importKernel } from "../kernel/import.ts";
import * as kernel from "../kernel/queue.ts";
import { type LimitReport, limitAccount } from "../limits/account-holds.ts";
import { closeBreaker } from "../limits/breakers.ts";
import { chargeBudget, type Grant, grantBudget } from "../limits/budgets.ts";
import { acquireCall, releaseCall } from "../limits/call-slots.ts";
import { openCycle } from "../limits/cycle.ts";
import { answer, type GroupPhase } from "../transaction/pending.ts";
import type { Tx } from "../transaction/tx.ts";
import { knownAccount } from "../views/accounts.ts";
import { closeBatch } from "../views/listings.ts";
import { planCycle, runCycle } from "../views/plan-report.ts";
import { addJob, type NewJob, restamp } from "./add.ts";
import { cancel, clear, isOpenNote } from "./cancel/cancel.ts";
import { beginCancel, stir } from "./cancel/cancel-many.ts";
import { claim } from "./claim.ts";
import * as control from "./control.ts";
import * as ends from "./finish.ts";
import * as hosts from "./hosts.ts";
import * as merges from "./merges.ts";
import { learn, mark, record } from "./observe.ts";
import * as outputs from "./outputs.ts";
import { rewind, rewindAll } from "./rewind.ts";
import * as settings from "./settings.ts";
import * as triggers from "./triggers.ts";
import { type GcCursor, gcSome, recover } from "./upkeep.ts";
import * as verdicts from "./verdicts.ts";
import * as waits from "./waits.ts";

export type Operation<A, R> = {
	run(tx: Tx, args: A): Op<R>;
	/** Jobs that it will read: loaded together with those of the other operations of a transaction. */
	jobs?(args: A): readonly number[];
	/** Locks of the job that it adds: loaded in the same way. */
	locks?(args: A): readonly string[];
	/** "any" unless given. */
	phase?: GroupPhase;
};
type Hints<A> = Omit<Operation<A, unknown>, "run">;

const row = <A, R>(run: (tx: Tx, args: A) => Op<R>, hints?: Hints<NoInfer<A>>): Operation<A, R> => ({ run, ...hints });
/** The same for an operation that reads nothing from the store. */
const plain = <A, R>(run: (tx: Tx, args: A) => R, hints?: Hints<NoInfer<A>>): Operation<A, R> =>
	row((tx, args) => answer(run(tx, args)), hints);

type OfJob = { job: number };
type OfRun = { job: number; token: number };
type OfHost = { host: string };
type OfTrigger = { trigger: string };
type OfLedger = { subject: string; dim: string };
type OfAccount = { account: string };
type OfScope = { scope: string };

const ofJob = { jobs: ({ job }: OfJob) => [job] };
const ofJobs = { jobs: ({ jobs }: { jobs: number[] }) => jobs };
const NO_LOCKS: readonly string[] = [];
const withLocks = { locks: ({ draft }: NewJob) => draft.job.locks?.map(({ key }) => key) ?? NO_LOCKS };

export const OPERATIONS = {
	// ---- the store ----------------------------------------------------------------------------------------------------------------
	open: row(settings.open),
	configure: plain(settings.configure),
	identify: plain((tx, { id }: { id: string }) => settings.identify(tx, id)),
	changePeople: plain(settings.changePeople),
	gc: row((tx, { before, after }: { before: number; after: GcCursor }) => gcSome(tx, before, after)),

	// ---- adding jobs ----------------------------------------------------------------------------------------------------------------
	add: row((tx, job: NewJob) => {
		restamp(job, tx.now);
		return addJob(tx, job.draft, job);
	}, withLocks),
	fire: row((tx, { trigger, slot, when_open, ...job }: NewJob & OfTrigger & { slot: number | null; when_open: "skip" | "wait" }) => {
		restamp(job, tx.now);
		return triggers.fire(tx, trigger, slot, when_open, job.draft, job);
	}, withLocks),
	passSlot: row((tx, { trigger, slot, error }: OfTrigger & { slot: number; error: string | null }) =>
		triggers.pass(tx, trigger, slot, error),
	),
	arm: row((tx, { trigger, mark }: OfTrigger & { mark: string }) => triggers.arm(tx, trigger, mark)),
	disarm: row((tx, { trigger }: OfTrigger) => triggers.disarm(tx, trigger)),
	apply: row(applying.applyWhole),
	learnFacts: row(learn),
	openStage: plain(stages.openStage),
	insertPiece: row(applying.insertPiece),
	closeStage: row(stages.closeStage),
	dropStage: plain((tx, { stage }: { stage: number }) => stages.dropStage(tx, stage)),
	updateJobs: row(updateJobs),
	edit: row(editJob, ofJob),

	// ---- facts ----------------------------------------------------------------------------------------------------------------------
	observe: row(record),
	mark: row((tx, { artifact, state }: { artifact: string; state: "present" | "absent" }) => mark(tx, artifact, state)),

	// ---- starting jobs, and holding them back ---------------------------------------------------------------------------------------
	claim: row(claim, { phase: "claim" }),
	runCycle: row(runCycle, { phase: "claim" }),
	/** Only for dry runs: it starts what a cycle would start. */
	planCycle: row(planCycle),
	openCycle: plain((tx, _none: object) => openCycle(tx, "run")),
	pause: plain((tx, { scope, reason, until }: OfScope & { reason: string; until?: number | undefined }) =>
		control.pause(tx, scope, reason, until),
	),
	resume: plain((tx, { scope }: OfScope) => control.resume(tx, scope)),
	closeBreaker: plain((tx, { scope }: OfScope) => closeBreaker(tx, scope)),
	stir: plain((tx, _none: object) => stir(tx)),

	// ---- runs -----------------------------------------------------------------------------------------------------------------------
	started: row(ends.started, ofJob),
	answered: row(ends.answered, ofJob),
	extend: row(ends.extend, ofJob),
	extendAll: row(ends.extendAll),
	stop: row(
		(tx, { job, token, ...stop }: OfRun & { kind: StopKind; reason: string; resumes?: true | undefined }) =>
			ends.stop(tx, { job, token }, stop),
		ofJob,
	),
	takeBackStop: row(ends.takeBackStop, ofJob),
	finish: row((tx, ending: RunEnd) => ends.finish(tx, ending), { ...ofJob, phase: "end" }),
	recover: row((tx, { host, found, reboot }: OfHost & { found: Parameters<Scheduler["recover"]>[0]; reboot: boolean }) =>
		recover(tx, host, found, reboot),
	),
	beginWait: row((tx, { job, token, ids }: OfRun & { ids: number[] }) => waits.beginWait(tx, { job, token }, ids), ofJob),
	endWait: row((tx, { job, token, wait }: OfRun & { wait: number }) => waits.endWait(tx, { job, token }, wait), ofJob),
	endWaits: row((tx, { host }: OfHost) => waits.endWaits(tx, host)),
	sayVerdict: row(
		(tx, { job, token, ...said }: OfRun & { verdict: VerdictWord; text: string }) => verdicts.sayVerdict(tx, { job, token }, said),
		ofJob,
	),
	sayResult: row((tx, { job, token, result }: OfRun & { result: string }) => verdicts.sayResult(tx, { job, token }, result), ofJob),
	takeResults: row(verdicts.takeResults, ofJob),
	toldGiven: row(control.toldGiven, ofJob),
	keepOutput: row((tx, { job, attempt, output }: OfJob & { attempt: number; output: RunOutput }) =>
		outputs.keepOutput(tx, job, attempt, output),
	),

	// ---- what people do to jobs -----------------------------------------------------------------------------------------------------
	cancel: row(
		(tx, { jobs, ...what }: { jobs: number[]; reason: string; subtree: boolean; piece: number }) => cancel(tx, jobs, what),
		ofJobs,
	),
	beginCancel: row(beginCancel),
	/** Each transaction ends a piece of what is left to cancel; answers whether there is more. */
	goOnWithCancel: plain((tx, { note }: { note: string }) => isOpenNote(tx, note)),
	clear: row((tx, { item, piece }: { item?: string | undefined; piece: number }) => clear(tx, item, piece)),
	rewind: row((tx, { job, what }: OfJob & { what: "downstream" | "alone" }) => rewind(tx, job, what), ofJob),
	rewindAll: row((tx, { jobs }: { jobs: number[] }) => rewindAll(tx, jobs), ofJobs),
	promote: row((tx, { job }: OfJob) => control.promote(tx, job), ofJob),
	demote: row((tx, { job }: OfJob) => control.demote(tx, job), ofJob),
	prioritise: row((tx, { job, priority }: OfJob & { priority: number }) => control.prioritise(tx, job, priority), ofJob),
	runNow: row((tx, { job, how }: OfJob & { how: "in_line" | "force" }) => control.runNow(tx, job, how), ofJob),
	hold: row((tx, { jobs, reason }: { jobs: number[]; reason?: string | undefined }) => control.hold(tx, jobs, reason), ofJobs),
	release: row((tx, { jobs }: { jobs: number[] }) => control.release(tx, jobs), ofJobs),
	tell: row((tx, { job, text }: OfJob & { text: string }) => control.tell(tx, job, text), ofJob),
	freeze: row((tx, { jobs, reason }: { jobs: number[]; reason?: string | undefined }) => control.freeze(tx, jobs, reason), ofJobs),
	thaw: row((tx, { jobs }: { jobs: number[] }) => control.thaw(tx, jobs), ofJobs),
	signalled: row(
		(tx, { job, attempt, signal }: OfJob & { attempt: number; signal: string }) => control.signalled(tx, job, attempt, signal),
		ofJob,
	),
	approve: row((tx, { job }: OfJob) => control.approve(tx, job), ofJob),
	reject: row((tx, { job, reason }: OfJob & { reason: string }) => control.reject(tx, job, reason), ofJob),
	answer: row(
		(tx, { job, text, grant }: OfJob & { text: string; grant?: Granted | undefined }) => control.answer(tx, job, text, grant),
		ofJob,
	),
	merged: row(
		(tx, { job, status, report }: OfJob & { status: MergeStatus; report: MergeReport }) => merges.merged(tx, job, status, report),
		ofJob,
	),
	mergeAgain: row((tx, { job }: OfJob) => merges.mergeAgain(tx, job), ofJob),
	dropMerge: row((tx, { job, reason }: OfJob & { reason?: string | undefined }) => merges.dropMerge(tx, job, reason), ofJob),
	closeBatch: row((tx, { name }: { name: string }) => closeBatch(tx, name)),

	// ---- accounts and budgets -------------------------------------------------------------------------------------------------------
	limitAccount: plain((tx, { account, report }: OfAccount & { report: LimitReport }) =>
		limitAccount(tx, knownAccount(tx, account), report),
	),
	clearAccount: plain((tx, { account }: OfAccount) => control.clearAccount(tx, account)),
	acquireCall: row((tx, { account, holder }: OfAccount & { holder: string }) => acquireCall(tx, knownAccount(tx, account), holder)),
	releaseCall: row((tx, { account, holder }: OfAccount & { holder: string }) => releaseCall(tx, account, holder)),
	grantBudget: row((tx, { subject, dim, grant }: OfLedger & { grant: Grant }) => grantBudget(tx, subject, dim, grant)),
	chargeBudget: row((tx, { subject, dim, amount }: OfLedger & { amount: number }) => chargeBudget(tx, subject, dim, amount)),

	// ---- hosts ----------------------------------------------------------------------------------------------------------------------
	beat: plain((tx, { host, life }: OfHost & { life?: hosts.Life }) => hosts.beat(tx, host, life)),
	leave: plain((tx, { host, life }: OfHost & { life?: hosts.Life }) => hosts.leave(tx, host, life)),
	drain: plain((tx, { host, reason }: OfHost & { reason: string }) => hosts.drain(tx, host, reason)),
	stopSome: row((tx, { host, after }: OfHost & { after: number }) => hosts.stopSome(tx, host, after)),
	undrain: plain((tx, { host }: OfHost) => hosts.undrain(tx, host)),
	removeHost: plain((tx, { host }: OfHost) => hosts.remove(tx, host)),
	offer: plain((tx, { host, repos }: OfHost & { repos: string[] | null }) => hosts.offer(tx, host, repos)),
	askHost: plain(outputs.askHost),
	replyTo: row((tx, { id, reply }: { id: string; reply: unknown }) => outputs.replyTo(tx, id, reply)),
	keepWebhook: row(outputs.keepWebhook),
	retryWebhook: row(outputs.retryWebhook),
	collectReply: row((tx, { id, otherwise }: { id: string; otherwise: "wait" | "give up" }) => outputs.collectReply(tx, id, otherwise)),

	// ---- the kernel contract --------------------------------------------------------------------------------------------------------
	kernelImport: row(importKernel),
	kernelEnqueue: row(kernel.enqueue),
	kernelEnqueueUnique: row(kernel.enqueueUnique),
	kernelClaim: row(kernel.kernelClaim, { phase: "claim" }),
	kernelComplete: row(kernel.kernelComplete),
	kernelCancel: row(kernel.kernelCancel),
	kernelGcExpired: row(kernel.gcExpired),
	kernelGcDispatched: row(kernel.gcDispatched),
	kernelExtend: row(kernel.kernelExtend),
	agentCreate: row(agents.agentCreate),
	agentTransition: row(agents.agentTransition),
	ledgerGrant: row(agents.ledgerGrant),
	ledgerCharge: row((tx, { params, sign }: { params: Charge; sign: 1 | -1 }) => agents.ledgerCharge(tx, params, sign)),
};
