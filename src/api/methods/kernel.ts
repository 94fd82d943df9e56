// Methods of the kernel contract: passed through unchanged, because the contract fixes parameters, results and errors.

import type { Act, Kernel, ReadyEntry } from "../../contracts/scheduler.ts";
import * as check from "../../core/input/check.ts";
import { exactPayload } from "../../core/input/payload.ts";
import type { Handler, Handlers } from "../call.ts";
import type { MethodName } from "../protocol.ts";

const to =
	<M extends MethodName>(call: (kernel: Kernel, params: never, act: Act) => Promise<unknown>): Handler<M> =>
	(params, { context, by }) =>
		call(context.scheduler.kernel, params as never, { by }) as never;

/** The contract's thirteen fields; the payload exactly as it was sent. */
const entryOf = ({ payload_json, ...entry }: ReadyEntry): ReadyEntry => ({
	...entry,
	payload: exactPayload({ payload: entry.payload, ...(payload_json === undefined ? {} : { payload_json }) }),
});

export const kernelMethods: Handlers<"kernel"> = {
	"kernel.import": async ({ file, renumber }, { context, by }) => {
		if (!file.startsWith("/")) throw check.wrong("file", `${check.shown(file)} is not a whole path`, "begin it with /");
		return context.scheduler.kernel.import(context.kernelFile(file), { by, numbers: renumber ? "new" : "keep" });
	},
	"kernel.sched.enqueue": to((kernel, params, act) => kernel.enqueue(params, act)),
	"kernel.sched.enqueue_unique": to((kernel, params, act) => kernel.enqueueUnique(params, act)),
	"kernel.sched.claim": to(async (kernel, params, act) => ({ entries: (await kernel.claim(params, act)).entries.map(entryOf) })),
	"kernel.sched.complete": to((kernel, params, act) => kernel.complete(params, act)),
	"kernel.sched.cancel": to((kernel, params, act) => kernel.cancel(params, act)),
	"kernel.sched.get": to(async (kernel, params) => entryOf(await kernel.get(params))),
	"kernel.sched.list": to(async (kernel, params) => {
		const { entries, total } = await kernel.list(params);
		return { entries: entries.map(entryOf), total };
	}),
	"kernel.sched.gc_expired": to((kernel, params, act) => kernel.gcExpired(params, act)),
	"kernel.sched.gc_dispatched": to((kernel, params, act) => kernel.gcDispatched(params, act)),
	"kernel.sched.extend": to((kernel, params, act) => kernel.extend(params, act)),
	"kernel.agent.create": to((kernel, params, act) => kernel.agent.create(params, act)),
	"kernel.agent.transition": to((kernel, params, act) => kernel.agent.transition(params, act)),
	"kernel.agent.get": to((kernel, params) => kernel.agent.get(params)),
	"kernel.agent.list": to(async (kernel) => ({ agents: await kernel.agent.list() })),
	"kernel.ledger.grant": to((kernel, params, act) => kernel.ledger.grant(params, act)),
	"kernel.ledger.update_grant": to((kernel, params, act) => kernel.ledger.grant(params, act)),
	"kernel.ledger.charge": to((kernel, params, act) => kernel.ledger.charge(params, act)),
	"kernel.ledger.refund": to(async (kernel, params, act) => {
		const { used, limit, over_limit } = await kernel.ledger.refund(params, act);
		return { used, limit, over_limit };
	}),
	"kernel.ledger.check": to((kernel, params) => kernel.ledger.check(params)),
	"kernel.ledger.get": to(async (kernel, params) => ({ ledgers: await kernel.ledger.get(params) })),
	"kernel.ledger.list_breached": to(async (kernel) => ({ ledgers: await kernel.ledger.listBreached() })),
};
