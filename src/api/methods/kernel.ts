// The kernel contract's methods: handed through as they are, since parameters, results and errors are fixed there.

import type { Kernel } from "../../scheduler.ts";
import type { Handler, Handlers } from "../call.ts";
import type { MethodName } from "../protocol.ts";

const to =
	<M extends MethodName>(call: (kernel: Kernel, params: never) => Promise<unknown>): Handler<M> =>
	(params, { context }) =>
		call(context.scheduler.kernel, params as never) as never;

export const kernelMethods: Handlers<"kernel"> = {
	"kernel.sched.enqueue": to((kernel, params) => kernel.enqueue(params)),
	"kernel.sched.enqueue_unique": to((kernel, params) => kernel.enqueueUnique(params)),
	"kernel.sched.claim": to((kernel, params) => kernel.claim(params)),
	"kernel.sched.complete": to((kernel, params) => kernel.complete(params)),
	"kernel.sched.cancel": to((kernel, params) => kernel.cancel(params)),
	"kernel.sched.get": to((kernel, params) => kernel.get(params)),
	"kernel.sched.list": to((kernel, params) => kernel.list(params)),
	"kernel.sched.gc_expired": to((kernel, params) => kernel.gcExpired(params)),
	"kernel.sched.gc_dispatched": to((kernel, params) => kernel.gcDispatched(params)),
	"kernel.sched.extend": to((kernel, params) => kernel.extend(params)),
	"kernel.agent.create": to((kernel, params) => kernel.agent.create(params)),
	"kernel.agent.transition": to((kernel, params) => kernel.agent.transition(params)),
	"kernel.agent.get": to((kernel, params) => kernel.agent.get(params)),
	"kernel.agent.list": to(async (kernel) => ({ agents: await kernel.agent.list() })),
	"kernel.ledger.grant": to((kernel, params) => kernel.ledger.grant(params)),
	"kernel.ledger.update_grant": to((kernel, params) => kernel.ledger.grant(params)),
	"kernel.ledger.charge": to((kernel, params) => kernel.ledger.charge(params)),
	"kernel.ledger.refund": to(async (kernel, params) => {
		const { used, limit, over_limit } = await kernel.ledger.refund(params);
		return { used, limit, over_limit };
	}),
	"kernel.ledger.check": to((kernel, params) => kernel.ledger.check(params)),
	"kernel.ledger.get": to(async (kernel, params) => ({ ledgers: await kernel.ledger.get(params) })),
	"kernel.ledger.list_breached": to(async (kernel) => ({ ledgers: await kernel.ledger.listBreached() })),
};
