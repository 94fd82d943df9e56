// The kernel contract's methods as tasks of the engine.

import type { Act, Kernel } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import { answer } from "../transaction/pending.ts";
import * as agents from "./agents.ts";
import { importKernel } from "./import.ts";
import * as kernel from "./queue.ts";

export function kernelMethods(engine: Engine, config: () => Config): Kernel {
	const on = (): void => {
		if (!config().kernel.enabled)
			throw new SluiceError("not_found", "the kernel contract is switched off", { hint: "sluice config set kernel.enabled true" });
	};
	const run = async <T>(task: Task<T>, act?: Act, phase: "any" | "claim" = "any"): Promise<T> => {
		on();
		return engine.run(task, { phase, by: act?.by });
	};
	/** Reads take no write lock, as the contract demands. */
	const look = async <T>(task: Task<T>): Promise<T> => {
		on();
		return engine.look(task);
	};
	return {
		import: (dump, options) => run((tx) => importKernel(tx, dump, options?.numbers ?? "keep"), options),
		enqueue: (params, act) => run((tx) => kernel.enqueue(tx, params), act),
		enqueueUnique: (params, act) => run((tx) => kernel.enqueueUnique(tx, params), act),
		claim: (params, act) => run((tx) => kernel.kernelClaim(tx, params), act, "claim"),
		complete: (params, act) => run((tx) => kernel.kernelComplete(tx, params), act),
		cancel: (params, act) => run((tx) => kernel.kernelCancel(tx, params), act),
		get: (params) => look((tx) => kernel.kernelGet(tx, params)),
		list: (params = {}) => look((tx) => kernel.kernelList(tx, params)),
		gcExpired: (params = {}, act) => run((tx) => kernel.gcExpired(tx, params), act),
		gcDispatched: (params, act) => run((tx) => kernel.gcDispatched(tx, params), act),
		extend: (params, act) => run((tx) => kernel.kernelExtend(tx, params), act),
		agent: {
			create: (params, act) => run((tx) => agents.agentCreate(tx, params), act),
			transition: (params, act) => run((tx) => agents.agentTransition(tx, params), act),
			get: (params) => look((tx) => agents.agentGet(tx, params)),
			list: () => look((tx) => agents.agentList(tx)),
		},
		ledger: {
			grant: (params, act) => run((tx) => agents.ledgerGrant(tx, params), act),
			charge: (params, act) => run((tx) => agents.ledgerCharge(tx, params, 1), act),
			refund: (params, act) => run((tx) => agents.ledgerCharge(tx, params, -1), act),
			check: (params) => look((tx) => agents.ledgerCheck(tx, params)),
			get: (params) => look((tx) => agents.ledgerGet(tx, params)),
			listBreached: () => look((tx) => answer(agents.listBreached(tx))),
		},
	};
}
