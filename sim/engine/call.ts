// One call of the engine's public interface, as data.

import type { Kernel, Scheduler } from "../../src/contracts/scheduler.ts";

type Methods = Pick<
	Scheduler,
	| "add"
	| "apply"
	| "claim"
	| "runCycle"
	| "started"
	| "answered"
	| "complete"
	| "extend"
	| "beginWait"
	| "endWait"
	| "endWaits"
	| "verdict"
	| "result"
	| "cancel"
	| "cancelAll"
	| "retry"
	| "rerun"
	| "promote"
	| "demote"
	| "priority"
	| "runNow"
	| "edit"
	| "hold"
	| "freeze"
	| "thaw"
	| "release"
	| "approve"
	| "reject"
	| "answer"
	| "pause"
	| "resume"
	| "clear"
	| "merged"
	| "observe"
	| "mark"
	| "limit"
	| "clearAccount"
	| "acquireCall"
	| "releaseCall"
	| "grant"
	| "charge"
	| "configure"
	| "gc"
	| "recover"
	| "heartbeat"
	| "drain"
	| "undrain"
	| "removeHost"
	| "leave"
	| "offer"
	| "tick"
> & {
	"kernel.enqueue": Kernel["enqueue"];
	"kernel.enqueueUnique": Kernel["enqueueUnique"];
	"kernel.claim": Kernel["claim"];
	"kernel.complete": Kernel["complete"];
	"kernel.cancel": Kernel["cancel"];
	"kernel.extend": Kernel["extend"];
	"kernel.gcExpired": Kernel["gcExpired"];
	"kernel.gcDispatched": Kernel["gcDispatched"];
	"kernel.agent.create": Kernel["agent"]["create"];
	"kernel.agent.transition": Kernel["agent"]["transition"];
	"kernel.ledger.grant": Kernel["ledger"]["grant"];
	"kernel.ledger.charge": Kernel["ledger"]["charge"];
	"kernel.ledger.refund": Kernel["ledger"]["refund"];
	"kernel.ledger.check": Kernel["ledger"]["check"];
};

export type Call = { [M in keyof Methods]: { method: M; args: Parameters<Methods[M]> } }[keyof Methods];

export async function perform(scheduler: Scheduler, call: Call): Promise<unknown> {
	let on: unknown = scheduler;
	const path = call.method.split(".");
	for (const part of path.slice(0, -1)) on = (on as Record<string, unknown>)[part];
	const name = path.at(-1) as string;
	const method = (on as Record<string, (...args: unknown[]) => Promise<unknown>>)[name];
	if (method === undefined) throw new Error(`the engine has no ${call.method}`);
	return method.apply(on, call.args as unknown[]);
}
