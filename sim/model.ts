// The reference model: slow, obvious, written from the spec alone. Each call is applied to its own state and held against what the engine did.

import type { Facts } from "../src/contracts/host.ts";
import type { Config } from "../src/core/config.ts";
import type { Call } from "./engine/call.ts";
import { add } from "./model/add.ts";
import { accepted, refused, type Seen, same } from "./model/agree.ts";
import { apply } from "./model/apply.ts";
import { claim, runCycle } from "./model/claim.ts";
import * as control from "./model/control.ts";
import { answered, complete, extend, started } from "./model/ending.ts";
import { clearAccount, limitAccount } from "./model/gates/accounts.ts";
import * as hosts from "./model/hosts.ts";
import * as kernel from "./model/kernel.ts";
import { rewind } from "./model/rewind.ts";
import { settle } from "./model/settle.ts";
import * as standing from "./model/standing.ts";
import type { State } from "./model/state.ts";
import { gc, recover, sweep } from "./model/sweep.ts";
import * as voice from "./model/voice.ts";
import * as waits from "./model/waits.ts";

export type Context = {
	/** The host that made the call. */
	host: string;
	/** What the engine found out by probing during the call. */
	probed: Facts[];
	/** Probes made during the call count before it decides, or after. */
	probes?: "first" | "new" | "last";
	/** The process died in the call and another one of its host has joined. */
	reopened?: hosts.Joining;
	/** It died after its work, and before it looked after the hosts. */
	unwatched?: true;
	/** The whole configuration that a `configure` stands for. */
	config?: Config;
};

/** Probes of these calls are made before they decide; those of all others, after. */
const LOOKS_FIRST = ["add", "apply", "edit", "retry", "rerun", "tick", "claim", "runCycle"];

/** And these once more when they are done. */
export const LOOKS_TWICE = ["retry", "rerun", "tick"];

/** Applies the call; throws a Disagreement where the engine did something else. Without a call: what any transaction does first, and probes. */
export function step(state: State, call: Call | undefined, seen: Seen, context: Context): void {
	const method = call?.method ?? "tick";
	const learned = () => {
		for (const facts of context.probed) standing.learn(state, facts, context.probes === "new" ? "unknown" : "all");
	};
	if (!seen.blurred) state.cancelling = false;
	// Whatever is called, what has come due is dealt with first.
	sweep(state, seen);
	const first = context.probes === undefined ? LOOKS_FIRST.includes(method) : context.probes !== "last";
	if (first) {
		learned();
		settle(state, seen);
	}
	if (call !== undefined) {
		const handle = HANDLERS[call.method] as (state: State, args: unknown, seen: Seen, context: Context) => void;
		handle(state, call.args, seen, context);
		// These tick, too, once they are done.
		if (LOOKS_TWICE.includes(method) && seen.error === undefined && !context.unwatched) hosts.watch(state, seen);
	}
	// These look around once more when they are done.
	const again = first && context.probes !== "new" && LOOKS_TWICE.includes(method);
	// What a job ends by puts its own products in doubt: they are looked at in the next round.
	for (let round = 0; (!first || again) && round < context.probed.length; round++) {
		learned();
		settle(state, seen);
	}
	if (context.reopened !== undefined) hosts.join(state, context.reopened);
	if (seen.kept !== undefined) state.reserved = seen.kept(undefined).now;
}

type Handlers = { [M in Call["method"]]: (state: State, args: (Call & { method: M })["args"], seen: Seen, context: Context) => void };

const HANDLERS: Handlers = {
	tick: (_state, _args, seen) => {
		accepted(seen);
	},
	add: (state, [input, options], seen) => add(state, input, options ?? {}, seen),
	apply: (state, [manifest, options], seen) => apply(state, manifest, options ?? {}, seen),
	claim: (state, [options], seen, { host }) =>
		hosts.mayClaim(state, options.host, host) ? claim(state, options, seen) : refused(seen, ["fenced"], `host ${host} was removed`),
	runCycle: (state, [options], seen, { host }) =>
		hosts.mayClaim(state, options.host, host) ? runCycle(state, options, seen) : refused(seen, ["fenced"], `host ${host} was removed`),
	started: (state, [run], seen) => started(state, run, seen),
	answered: (state, [run], seen) => answered(state, run, seen),
	complete: (state, [ending], seen) => complete(state, ending, seen),
	extend: (state, [run], seen) => extend(state, run, seen),
	recover: (state, [found, options], seen, { host }) => recover(state, found, options ?? {}, seen, host),
	gc: (state, [options], seen) => gc(state, options?.days ?? 7, seen),

	beginWait: (state, [run, ids], seen) => waits.beginWait(state, run, ids, seen),
	endWait: (state, [run, wait], seen) => waits.endWait(state, run, wait, seen),
	endWaits: (state, [name], seen, { host }) => waits.endWaits(state, name ?? host, seen),
	verdict: (state, [run, said], seen) => voice.verdict(state, run, said, seen),
	result: (state, [run, value], seen) => voice.result(state, run, value, seen),
	cancelAll: (state, [ids], seen) => control.cancelAll(state, ids, seen),
	cancel: (state, [id, options], seen) => control.cancel(state, id, options ?? {}, seen),
	retry: (state, [id], seen) => rewind(state, id, "downstream", seen),
	rerun: (state, [id], seen) => rewind(state, id, "alone", seen),
	promote: (state, [id], seen) => control.promote(state, id, seen),
	demote: (state, [id], seen) => control.demote(state, id, seen),
	priority: (state, [id, value], seen) => control.priority(state, id, value, seen),
	runNow: (state, [id, options], seen) => control.runNow(state, id, options ?? {}, seen),
	edit: (state, [id, fields], seen) => control.edit(state, id, fields, seen),
	hold: (state, [ids], seen) => control.hold(state, ids, seen),
	freeze: (state, [ids], seen) => control.freeze(state, ids, "freeze", seen),
	thaw: (state, [ids], seen) => control.freeze(state, ids, "thaw", seen),
	release: (state, [ids], seen) => control.release(state, ids, seen),
	approve: (state, [id], seen) => control.approve(state, id, seen),
	reject: (state, [id, options], seen) => control.reject(state, id, options ?? {}, seen),
	answer: (state, [id, , options], seen) => control.answer(state, id, options?.grant, seen),
	clear: (state, [options], seen) => control.clear(state, options ?? {}, seen),
	merged: (state, [id, status], seen) => control.merged(state, id, status, seen),

	pause: (state, [scope, options], seen) => standing.pause(state, scope, options?.until, seen),
	resume: (state, [scope], seen) => standing.resume(state, scope, seen),
	observe: (state, [facts], seen) => {
		accepted(seen);
		standing.learn(state, facts);
		settle(state, seen);
	},
	mark: (state, [artifact, options], seen) => standing.mark(state, artifact, options?.absent === true, seen),
	limit: (state, [account, report], seen) => {
		accepted(seen);
		limitAccount(state, account, report, state.now);
	},
	clearAccount: (state, [account], seen) => {
		accepted(seen);
		clearAccount(state, account);
	},
	acquireCall: (state, [account, holder], seen) => standing.acquireCall(state, account, holder, seen),
	releaseCall: (state, [account, holder], seen) => standing.releaseCall(state, account, holder, seen),
	grant: (state, [subject, dim, terms], seen) => standing.grant(state, subject, dim, terms, seen),
	charge: (state, [subject, dim, amount], seen) => standing.charge(state, subject, dim, amount, seen),
	configure: (state, _args, seen, { config }) => {
		accepted(seen);
		// The bound against starvation holds for one setting: under another it is counted anew.
		if (config !== undefined && !same(config.order, state.config.order)) for (const job of state.jobs) delete job.passed;
		if (config !== undefined) state.config = config;
		settle(state, seen);
	},
	heartbeat: (state, [name], seen, { host }) => hosts.heartbeat(state, name ?? host, host, seen),
	drain: (state, [name, options], seen) => hosts.drain(state, name, options ?? {}, seen),
	undrain: (state, [name], seen) => hosts.undrain(state, name, seen),
	removeHost: (state, [name], seen) => hosts.remove(state, name, seen),
	leave: (state, _args, seen, { host }) => hosts.leave(state, host, seen),
	offer: (state, [repos], seen, { host }) => hosts.offer(state, host, repos, seen),

	"kernel.enqueue": (state, [params], seen) => kernel.enqueue(state, params, seen),
	"kernel.enqueueUnique": (state, [params], seen) => kernel.enqueue(state, params, seen),
	"kernel.claim": (state, [params], seen) => kernel.claimEntries(state, params, seen),
	"kernel.complete": (state, [params], seen) => kernel.completeEntry(state, params, seen),
	"kernel.cancel": (state, [params], seen) => kernel.cancelEntry(state, params, seen),
	"kernel.extend": (state, [params], seen) => kernel.extendEntry(state, params, seen),
	"kernel.gcExpired": (state, [params], seen) => kernel.expireEntries(state, params, seen),
	"kernel.gcDispatched": (state, [params], seen) => kernel.requeueStale(state, params, seen),
	"kernel.agent.create": (state, [{ name }], seen) => standing.createAgent(state, name, seen),
	"kernel.agent.transition": (state, [{ pid, to }], seen) => standing.moveAgent(state, pid, to, seen),
	"kernel.ledger.grant": (state, [{ pid, dim, ...terms }], seen) => standing.grant(state, `pid:${pid}`, dim, terms, seen),
	"kernel.ledger.charge": (state, [{ pid, dim, amount }], seen) => standing.charge(state, `pid:${pid}`, dim, amount, seen),
	"kernel.ledger.refund": (state, [{ pid, dim, amount }], seen) => standing.charge(state, `pid:${pid}`, dim, -amount, seen),
	"kernel.ledger.check": (_state, _args, seen) => {
		accepted(seen);
	},
};
