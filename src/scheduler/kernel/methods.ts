// The kernel contract's methods.

import type { Kernel, KernelDump } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import { SluiceError } from "../../core/errors.ts";
import { JsonText } from "../../core/text/json-text.ts";
import type { Core } from "../operations/core.ts";
import { reading, type Task } from "../transaction/pending.ts";
import * as agents from "./agents.ts";
import type { Importing } from "./import.ts";
import * as kernel from "./queue.ts";

/** A payload that a JavaScript value cannot represent goes along as its text. */
function exactly<P extends { payload?: unknown }>(params: P): { params: P; payload_json?: string } {
	const payload = params?.payload;
	return payload instanceof JsonText ? { params: { ...params, payload: null }, payload_json: payload.text } : { params };
}

/** The same for the payloads of a dump's entries. */
function plainDump(dump: KernelDump): Pick<Importing, "dump" | "payloads"> {
	const payloads = dump.entries.flatMap(({ payload }, index): Importing["payloads"] =>
		payload instanceof JsonText ? [[index, payload.text]] : [],
	);
	return { dump: payloads.length === 0 ? dump : { ...dump, entries: dump.entries.map((entry) => exactly(entry).params) }, payloads };
}

export function kernelMethods(core: Core, config: () => Config): Kernel {
	const on = (): void => {
		if (!config().kernel.enabled)
			throw new SluiceError("not_found", "the kernel contract is switched off", { hint: "sluice config set kernel.enabled true" });
	};
	const call: Core["call"] = async (name, given, act) => {
		on();
		return core.call(name, given, act);
	};
	/** Reads take no write lock, as the contract demands. */
	const look = async <T>(task: Task<T>): Promise<T> => {
		on();
		return core.look(task);
	};
	return {
		import: (dump, options) => call("kernelImport", () => ({ ...plainDump(dump), numbers: options?.numbers ?? "keep" }), options),
		enqueue: (params, act) => call("kernelEnqueue", exactly(params), act),
		enqueueUnique: (params, act) => call("kernelEnqueueUnique", exactly(params), act),
		claim: (params, act) => call("kernelClaim", params, act),
		complete: (params, act) => call("kernelComplete", params, act),
		cancel: (params, act) => call("kernelCancel", params, act),
		get: (params) => look((tx) => kernel.kernelGet(tx, params)),
		list: (params = {}) => look((tx) => kernel.kernelList(tx, params)),
		gcExpired: (params = {}, act) => call("kernelGcExpired", params, act),
		gcDispatched: (params, act) => call("kernelGcDispatched", params, act),
		extend: (params, act) => call("kernelExtend", params, act),
		agent: {
			create: (params, act) => call("agentCreate", params, act),
			transition: (params, act) => call("agentTransition", params, act),
			get: (params) => look((tx) => agents.agentGet(tx, params)),
			list: () => look((tx) => agents.agentList(tx)),
		},
		ledger: {
			grant: (params, act) => call("ledgerGrant", params, act),
			charge: (params, act) => call("ledgerCharge", { params, sign: 1 }, act),
			refund: (params, act) => call("ledgerCharge", { params, sign: -1 }, act),
			check: (params) => look((tx) => agents.ledgerCheck(tx, params)),
			get: (params) => look((tx) => agents.ledgerGet(tx, params)),
			listBreached: () => look(reading(agents.listBreached)),
		},
	};
}
