// The kernel contract: a separate kind of queue for workers in any language. Times are epoch seconds; invalid parameters are −32133, so the scheduler
// itself checks them. Hidden entirely if `kernel.enabled` is false.

import type { Imported, Kernel } from "../../contracts/scheduler.ts";
import {
	adminMethod,
	choice,
	choices,
	decimal,
	type Fields,
	flag,
	maybe,
	object,
	openMethod,
	orNull,
	type Role,
	text,
	whole,
	word,
} from "../fields.ts";

const MAX_WHOLE = Number.MAX_SAFE_INTEGER;
const pid = whole("the agent", 1, MAX_WHOLE);
const sched_id = whole("the entry", 1, MAX_WHOLE);
const dim = word("a dimension: tokens, cost, wall …");
const amount = whole("in whole units", 0, MAX_WHOLE);
const now = maybe(decimal("epoch seconds (the server's clock)", 0, 1e12));
const worker_id = word("who works on it");
const STATES = ["queued", "dispatched", "completed", "expired", "cancelled"] as const;
const AGENT_STATES = ["READY", "RUNNING", "WAITING", "SUSPENDED", "DEAD"] as const;

const enqueue = {
	pid,
	priority: maybe(whole("higher goes sooner (0)", -1_000_000_000, 1_000_000_000)),
	runnable_at: maybe(decimal("epoch seconds; 0 = now (0)", 0, 1e12)),
	deadline: maybe(orNull(decimal("epoch seconds; null = none (null)", 0, 1e12))),
	trigger: maybe(word("manual, cron, event, resume or any word (manual)")),
	payload: maybe(object("opaque: comes back as it was sent; at most 1,000,000 characters of JSON ({})")),
};
const grant = {
	pid,
	dim,
	limit: whole("in whole units", 0, MAX_WHOLE),
	warn_at: maybe(decimal("share of the limit at which to warn (0.8)", 0, 1)),
	window: maybe(orNull(choice("begins anew each (null)", ["hour", "day"]))),
};
const ENTRY =
	"{sched_id, pid, priority, runnable_at, deadline, trigger, payload, state, worker_id, created_at, dispatched_at, completed_at, exit_kind}";
const LEDGER = "{subject, dim, used, limit, warn_at, window, over_limit}";

type Call = (params: never) => Promise<unknown>;
const methodFor =
	(role: Role) =>
	<F extends Call>(about: string, params: Fields, result: string) =>
		openMethod<Parameters<F>[0] extends undefined ? Record<string, never> : NonNullable<Parameters<F>[0]>, Awaited<ReturnType<F>>>(
			"kernel",
		)({ role, about, params, result });
const reads = methodFor("viewer");
const acts = methodFor("operator");
type Agent = Kernel["agent"];
type Ledger = Kernel["ledger"];

export const KERNEL_METHODS = {
	"kernel.import": adminMethod<Imported>()({
		about: "Takes over the agents, ledgers and queue of a kernel.db (schema 2 or 3), all or nothing; the file stays as it is.",
		params: {
			file: text("the file on the daemon's machine, as a whole path", 4096),
			renumber: maybe(flag("give agents and entries new numbers, where theirs are taken here (false)")),
		},
		result: "{agents, ledgers, entries: {queued, dispatched, completed, expired, cancelled}, renumbered, notes}",
	}),
	"kernel.sched.enqueue": acts<Kernel["enqueue"]>("Adds an entry for a live agent.", enqueue, "{sched_id}"),
	"kernel.sched.enqueue_unique": acts<Kernel["enqueueUnique"]>(
		"Adds an entry unless a queued one is like it.",
		{ ...enqueue, dedupe_by: maybe(choices("what makes two entries alike (pid, trigger)", ["pid", "trigger", "priority"])) },
		"{sched_id, created}",
	),
	"kernel.sched.claim": acts<Kernel["claim"]>(
		"Takes the next entries, in one transaction.",
		{
			worker_id,
			max_n: maybe(whole("at most so many (1)", 0, 1000)),
			now,
			admission_check: maybe(flag("skip owners with a ledger over its limit (true)")),
		},
		`{entries: [${ENTRY}]}`,
	),
	"kernel.sched.complete": acts<Kernel["complete"]>(
		"Ends a dispatched entry.",
		{
			sched_id,
			exit_kind: choice("how", ["completed", "cancelled", "failed", "crashed"]),
			worker_id: maybe(word("must be the one that claimed it")),
		},
		"{sched_id, state, prev_state}",
	),
	"kernel.sched.cancel": acts<Kernel["cancel"]>("Ends a queued entry.", { sched_id }, "{sched_id, state}"),
	"kernel.sched.get": reads<Kernel["get"]>("One entry.", { sched_id }, ENTRY),
	"kernel.sched.list": reads<Kernel["list"]>(
		"Entries by number.",
		{
			state: maybe(choice("only in this state", STATES)),
			pid: maybe(pid),
			limit: maybe(whole("at most so many (100)", 0, 10_000)),
			offset: maybe(whole("skip so many (0)", 0, MAX_WHOLE)),
		},
		`{entries: [${ENTRY}], total}`,
	),
	"kernel.sched.gc_expired": acts<Kernel["gcExpired"]>("Expires queued entries whose deadline has passed.", { now }, "{swept}"),
	"kernel.sched.gc_dispatched": acts<Kernel["gcDispatched"]>(
		"Puts entries whose worker has been silent back into the queue.",
		{ stale_seconds: decimal("silent for so long", 0, 1e12) },
		"{swept}",
	),
	"kernel.sched.extend": acts<Kernel["extend"]>(
		"A worker's sign of life; tells whether it was asked to stop.",
		{ sched_id, worker_id },
		"{sched_id, cancel_requested}",
	),
	"kernel.agent.create": acts<Agent["create"]>("Makes an agent, READY.", { name: word("its name") }, "{pid, state}"),
	"kernel.agent.transition": acts<Agent["transition"]>(
		"Sets an agent's state; DEAD is for ever.",
		{ pid, to: choice("the new state", AGENT_STATES) },
		"{pid, state, prev_state}",
	),
	"kernel.agent.get": reads<Agent["get"]>("One agent.", { pid }, "{pid, name, state}"),
	"kernel.agent.list": reads<() => Promise<{ agents: Awaited<ReturnType<Agent["list"]>> }>>(
		"All agents.",
		{},
		"{agents: [{pid, name, state}]}",
	),
	"kernel.ledger.grant": acts<Ledger["grant"]>("Sets the limit of an agent's ledger.", grant, LEDGER),
	"kernel.ledger.update_grant": acts<Ledger["grant"]>("The same as grant.", grant, LEDGER),
	"kernel.ledger.charge": acts<Ledger["charge"]>(
		"Adds to what was used.",
		{ pid, dim, amount },
		"{used, limit, over_limit, warned, first_breach}",
	),
	"kernel.ledger.refund": acts<Ledger["refund"]>("Takes back from what was used.", { pid, dim, amount }, "{used, limit, over_limit}"),
	"kernel.ledger.check": reads<Ledger["check"]>("Whether a charge would exceed the limit.", { pid, dim, amount }, "{would_exceed}"),
	"kernel.ledger.get": reads<(params: { pid: number }) => Promise<{ ledgers: Awaited<ReturnType<Ledger["get"]>> }>>(
		"An agent's ledgers.",
		{ pid },
		`{ledgers: [${LEDGER}]}`,
	),
	"kernel.ledger.list_breached": reads<() => Promise<{ ledgers: Awaited<ReturnType<Ledger["listBreached"]>> }>>(
		"Ledgers of agents that are used up.",
		{},
		`{ledgers: [${LEDGER}]}`,
	),
} as const;
