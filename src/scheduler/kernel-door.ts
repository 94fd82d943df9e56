// The kernel contract's methods as tasks of the engine.

import type { Config } from "../core/config.ts";
import { SluiceError } from "../core/errors.ts";
import type { Kernel } from "../scheduler.ts";
import type { Engine, Task } from "./engine.ts";
import * as kernel from "./kernel.ts";
import * as agents from "./kernel-agents.ts";

export function kernelDoor(engine: Engine, config: () => Config): Kernel {
	const run = async <T>(task: Task<T>, options: { phase?: "claim" } = {}): Promise<T> => {
		if (!config().kernel.enabled)
			throw new SluiceError("not_found", "the kernel contract is switched off", { hint: "set kernel.enabled to true" });
		return engine.run(task, options);
	};
	return {
		enqueue: (params) => run((tx) => kernel.enqueue(tx, params)),
		enqueueUnique: (params) => run((tx) => kernel.enqueueUnique(tx, params)),
		claim: (params) => run((tx) => kernel.kernelClaim(tx, params), { phase: "claim" }),
		complete: (params) => run((tx) => kernel.kernelComplete(tx, params)),
		cancel: (params) => run((tx) => kernel.kernelCancel(tx, params)),
		get: (params) => run((tx) => kernel.kernelGet(tx, params)),
		list: (params = {}) => run((tx) => kernel.kernelList(tx, params)),
		gcExpired: (params = {}) => run((tx) => kernel.gcExpired(tx, params)),
		gcDispatched: (params) => run((tx) => kernel.gcDispatched(tx, params)),
		extend: (params) => run((tx) => kernel.kernelExtend(tx, params)),
		agent: {
			create: (params) => run((tx) => agents.agentCreate(tx, params)),
			transition: (params) => run((tx) => agents.agentTransition(tx, params)),
			get: (params) => run((tx) => agents.agentGet(tx, params)),
			list: () => run((tx) => agents.agentList(tx)),
		},
		ledger: {
			grant: (params) => run((tx) => agents.ledgerGrant(tx, params)),
			charge: (params) => run((tx) => agents.ledgerCharge(tx, params, 1)),
			refund: (params) => run((tx) => agents.ledgerCharge(tx, params, -1)),
			check: (params) => run((tx) => agents.ledgerCheck(tx, params)),
			get: (params) => run((tx) => agents.ledgerGet(tx, params)),
			listBreached: () => run((tx) => agents.listBreached(tx)),
		},
	};
}
