// Validates and copies the arguments of the library's methods before a method sees them. A wrong argument is a rejected promise with a typed error that names
// it. No later change to an argument by its caller, and no getter in it, reaches further than this file. (add and apply check their arguments themselves: add
// is called often, and those of apply are too large to copy at once.)

import type { Kernel, Scheduler } from "../../contracts/scheduler.ts";
import { DENIED_MAX } from "../../core/agents/permissions/denied.ts";
import * as check from "../../core/input/check.ts";
import { exactPayload, readPayload } from "../../core/input/payload.ts";
import { MERGE_STATUSES, STATUSES, STOP_KINDS } from "../../core/job.ts";
import { STATS_BUCKETS, STATS_BY } from "../../core/rollups/stats.ts";
import { readSignal } from "../../core/runs/signals.ts";
import { TOLD_CHARACTERS } from "../../core/runs/told.ts";
import { DIMENSION, GRANT, SUBJECT } from "../../core/schema/budget.ts";
import { boundedRecord, type Fields, fieldsReader, type Reader } from "../../core/schema/field.ts";
import { CLAIM, HOST_RUN_END, RUN_END } from "../../core/schema/run.ts";
import { copy } from "../../core/text/copy.ts";
import { checked } from "../kernel/input.ts";
import { promised } from "./add.ts";
import { type Readers, readKeys } from "./input.ts";

type Argument = (value: unknown) => unknown;

const at =
	(field: string, read: Reader<unknown>): Argument =>
	(value) =>
		check.taking(field, () => read(value, field));
const maybe =
	(read: Reader<unknown>): Reader<unknown> =>
	(value, field) =>
		value === undefined ? undefined : read(value, field);

const keys =
	(readers: Readers): Reader<Record<string, unknown>> =>
	(value, field) =>
		readKeys(check.record(value, field), readers, field);
/** An argument that is an object; errors name its keys alone. */
const object = (name: string, readers: Readers) => at(name, (value) => readKeys(check.record(value, name), readers, ""));
/** An argument with the fields of a table. */
function document(name: string, fields: Fields): Argument {
	const read = fieldsReader(fields, name);
	return at(name, (value) => read(value, ""));
}
const optional =
	(read: Argument): Argument =>
	(value) =>
		value === undefined || value === null ? undefined : read(value);

const text = (value: unknown, field: string) => check.text(value, field);
const toldText = (value: unknown, field: string) => check.text(value, field, { max: TOLD_CHARACTERS });
const time = (value: unknown, field: string) => check.integer(value, field, 0, check.MAX_TIME);
const whole = (min: number, max?: number) => (value: unknown, field: string) => check.integer(value, field, min, max);
const id = at("id", whole(1));
const ids = at("ids", (value, field) => [...new Set(check.list(value, field, 100_000).map((one) => check.integer(one, field, 1)))]);
const run = document("run", { job: RUN_END.job, token: RUN_END.token });
/** Only these two keys of it are read: the supervisor passes all that it knows of the run. */
const itsRun = at("run", (value) => {
	const { job, token } = (value ?? {}) as Record<string, unknown>;
	return { job: check.integer(job, "job", 1), token: check.integer(token, "token", 1) };
});
const act = (more: Readers = {}) =>
	optional(object("options", { by: check.word, reason: (value, field) => check.text(value, field, { max: 10_000 }), ...more }));
const data = (value: unknown, field: string) => copy(check.json(check.record(value, field), field));
const names = (value: unknown, field: string) => check.list(value, field, 1000).map((one, index) => check.word(one, `${field}[${index}]`));
const plain = (name: string) => at(name, data);
const word = (name: string) => at(name, check.word);
const label = (name: string) => at(name, check.label);
const scope = optional(at("scope", keys({ lane: check.label, repo: check.label, batch: check.label, account: check.label })));
const subject = at("subject", SUBJECT.read);
const dim = at("dim", DIMENSION.read);

/** A breaker belongs to one agent or one repo. */
const breaker = at("of", (value, field) => {
	const own = keys({ agent: check.label, repo: check.label })(value, field);
	if (Object.keys(own).length !== 1) throw check.wrong(field, "give one agent or one repo");
	return own;
});

/** What an answer grants. */
const granted = keys({
	permission: (value, field) => check.oneOf(value, ["edit", "full"], field),
	allow: (value, field) =>
		check.list(value, field, 10 * (DENIED_MAX + 1)).map((one, index) => check.text(one, `${field}[${index}]`, { max: 1000 })),
});

const found = at("found", (value) =>
	check.list(value, "found").map((one, index) => {
		const field = `found[${index}]`;
		const given = check.record(one, field);
		check.knownKeys(given, ["run", "state", "exit_code"], field);
		const own: Record<string, unknown> = {
			run: check.word(given.run, `${field}.run`),
			state: check.oneOf(given.state, ["alive", "exited", "gone", "unstarted"], `${field}.state`),
		};
		if (given.exit_code !== undefined) own.exit_code = check.integer(given.exit_code, `${field}.exit_code`, -2_147_483_648, 4_294_967_295);
		return own;
	}),
);

/** Checks the form of each kind of fact: a fact that no gate can read would leave its jobs waiting without a reason. */
function checkFacts(value: unknown): unknown {
	for (const [key, seen] of Object.entries(check.record(value, "facts"))) {
		const field = `facts.${key.length > 60 ? `${key.slice(0, 60)}…` : key}`;
		const kind = /^(artifact|condition|head|item|busy):./.exec(key)?.[1];
		if (!kind) throw check.wrong(field, "is no fact", "artifact:…, head:…, condition:…, item:… and busy:… are");
		if (seen !== null && typeof seen === "object" && "error" in seen) check.text(seen.error, `${field}.error`);
		else if (kind === "artifact" || kind === "condition") check.flag(seen, field);
		else if (kind === "item") {
			const item = check.record(seen, field);
			check.knownKeys(item, ["open", "blocked_by", "in_progress", "taken", "held"], field);
			check.flag(item.open, `${field}.open`);
			if (item.in_progress !== undefined) check.flag(item.in_progress, `${field}.in_progress`);
			for (const key of ["taken", "held"] as const) if (item[key] !== undefined) check.text(item[key], `${field}.${key}`, { max: 1000 });
			if (item.blocked_by !== undefined)
				for (const [index, one] of check.list(item.blocked_by, `${field}.blocked_by`, 1000).entries())
					check.text(one, `${field}.blocked_by[${index}]`, { max: 1000 });
		} else if (seen !== null) check.text(seen, field, { max: 1000 });
	}
	return value;
}

const numbers = (value: unknown, field: string) =>
	check.list(value, field, 100_000).map((one, index) => check.integer(one, `${field}[${index}]`, 1));

const cycle = (value: unknown, field: string) => check.oneOf(value, ["now"], field);

/** Is checked by its method, which reads it in the form that it is stored in. */
const same = (value: unknown) => value;

/** What `list` may be asked for. */
const LISTED: Readers = {
	status: (value, field) => check.list(value, field, 20).map((one, index) => check.oneOf(one, STATUSES, `${field}[${index}]`)),
	lane: check.label,
	repo: check.label,
	batch: check.label,
	all: same,
	limit: whole(1, 1_000_000),
	after: whole(0),
	before: whole(1),
	ids: (value, field) => check.list(value, field, 10_000).map((one, index) => check.integer(one, `${field}[${index}]`, 1)),
	recent: whole(1, 10_000),
};

/** The arguments of each method, in order. Nothing behind this table checks them again. */
export const ARGUMENTS = {
	arm: [word("trigger"), at("mark", (value, field) => check.text(value, field, { max: 100_000 }))],
	disarm: [word("trigger")],
	claim: [document("claim", CLAIM)],
	claimStanding: [document("claim", CLAIM)],
	retire: [word("worker")],
	runCycle: [document("claim", CLAIM)],
	complete: [document("ending", HOST_RUN_END)],
	fire: [
		word("trigger"),
		object("firing", {
			slot: time,
			job: (value, field) => copy(check.json(check.record(value, field), field, { max: 2_000_000 })),
			when_open: (value, field) => check.oneOf(value, ["skip", "wait"], field),
			error: text,
		}),
		act(),
	],
	started: [run],
	answered: [run],
	extend: [run],
	stop: [
		run,
		object("stop", {
			kind: (value, field) => check.oneOf(value, STOP_KINDS, field),
			reason: (value, field) => check.text(value, field, { max: 10_000 }),
			resumes: (value, field) => (check.flag(value, field) ? true : undefined),
		}),
		act(),
	],
	assigned: [at("host", maybe(check.label))],
	beginWait: [itsRun, ids],
	endWait: [itsRun, at("wait", whole(1))],
	verdict: [itsRun, object("said", { verdict: same, text: same }), act()],
	result: [itsRun, same, act()],
	takeResults: [itsRun],
	takeBackStop: [run],
	toldGiven: [
		run,
		at("numbers", (value, field) => check.list(value, field, 1000).map((one, index) => whole(1)(one, `${field}[${index}]`))),
	],
	cancel: [id, act({ subtree: check.flag })],
	cancelAll: [ids, act({ subtree: check.flag })],
	retry: [id, act()],
	retryAll: [ids, act()],
	rerun: [id, act()],
	promote: [id, act()],
	demote: [id, act()],
	priority: [id, at("priority", whole(-1_000_000, 1_000_000)), act()],
	runNow: [id, act({ force: check.flag })],
	/** Each field is checked where it becomes part of the job; here only that all of it is JSON. */
	edit: [
		id,
		object("fields", {
			set: (value, field) => check.json(boundedRecord(value, field), field, { max: 16_000_000, strings: "any" }),
			unset: names,
		}),
		act(),
	],
	hold: [ids, act()],
	release: [ids, act()],
	freeze: [ids, act()],
	thaw: [ids, act()],
	signalled: [object("run", { job: whole(1), attempt: whole(1) }), at("signal", readSignal), act()],
	approve: [id, act()],
	reject: [id, act()],
	answer: [id, at("text", text), act({ grant: granted })],
	tell: [id, at("text", toldText), act()],

	pause: [scope, act({ until: time })],
	resume: [scope, act()],
	closeBreaker: [breaker, act()],
	clear: [act({ item: check.word })],
	merged: [
		id,
		at("status", (value, field) => check.oneOf(value, MERGE_STATUSES, field)),
		optional(
			object("report", {
				files: (value, field) => check.list(value, field, 1000).map((one, index) => check.text(one, `${field}[${index}]`, { max: 4096 })),
				message: (value, field) => check.text(value, field, { max: 10_000 }),
				commit: (value, field) => check.text(value, field, { max: 100, lines: "one" }),
				target: (value, field) => check.text(value, field, { max: check.MAX_NAME, lines: "one" }),
				follow_up: check.flag,
				cause: (value, field) => check.oneOf(value, ["changes"], field),
				uncommitted: check.flag,
				nothing: check.flag,
				given_up: check.flag,
				path: (value, field) => check.text(value, field, { max: 4096 }),
			}),
		),
	],
	mergeAgain: [id, act()],
	dropMerge: [id, act()],
	show: [id],
	why: [id],
	history: [id],
	list: [
		at(
			"filter",
			maybe((value) => readKeys(check.record(value, "filter"), LISTED, "")),
		),
	],
	graph: [optional(object("filter", { all: check.flag, job: whole(1), batch: check.label, max_depth: whole(0, 1000) }))],
	find: [at("name", (value, field) => check.text(value, field, { max: check.MAX_NAME, lines: "one" }))],
	closeBatch: [label("name"), act()],
	stats: [
		optional(
			object("options", {
				since: time,
				until: time,
				by: (value, field) => check.oneOf(value, STATS_BY, field),
				bucket: (value, field) => check.oneOf(value, STATS_BUCKETS, field),
			}),
		),
	],
	forecast: [
		optional(object("options", { max_concurrent: whole(-1, 1_000_000), lanes: data, batch: check.label, frozen: numbers, also: data })),
	],
	plan: [optional(object("options", { max: whole(0, 1000), cycle, kinds: CLAIM.kinds.read }))],
	tick: [optional(object("options", { cycle }))],
	queue: [
		optional(
			object("options", {
				limit: whole(1, 10_000),
				behind: (value, field) => check.list(value, field, 1000).map((one) => check.integer(one, field, 1)),
			}),
		),
	],
	spent: [at("since", time)],
	observe: [at("facts", (value) => copy(check.json(checkFacts(value), "facts")))],
	mark: [at("artifact", (value, field) => check.text(value, field, { max: 1000, lines: "one" })), act({ absent: check.flag })],
	limit: [label("account"), object("report", { until: time, retry_after_ms: time, closed: text }), act()],
	clearAccount: [label("account"), act()],
	acquireCall: [label("account"), word("holder")],
	releaseCall: [label("account"), word("holder")],
	grant: [subject, dim, document("grant", GRANT), act()],
	charge: [subject, dim, at("amount", whole(-Number.MAX_SAFE_INTEGER))],
	ledgers: [at("subject", maybe(check.word))],
	configure: [plain("config"), act({ more: data })],
	gc: [optional(object("options", { days: (value, field) => check.number(value, field, 0, 100_000) }))],
	recover: [found, optional(object("options", { host: check.label, reboot: check.flag }))],
	heartbeat: [at("host", maybe(check.label))],
	offer: [
		at("repos", (value, field) =>
			value === null ? null : check.list(value, field).map((one, index) => check.label(one, `${field}[${index}]`)),
		),
	],
	drain: [label("host"), act({ stop: check.flag })],
	undrain: [label("host"), act()],
	removeHost: [label("host"), act()],
	identify: [word("name")],
} satisfies Partial<Record<keyof Scheduler, Argument[]>>;

type Method = (...args: never[]) => Promise<unknown>;

function guarded(method: Method, readers: readonly Argument[]): Method {
	return (...args: unknown[]) => promised(() => method(...(readers.map((read, index) => read(args[index])) as never[])));
}

/** Wraps a scheduler so that its arguments are checked. */
export function withValidatedArguments(inner: Scheduler): Scheduler {
	const outer = { ...inner, kernel: kernelWithDoor(inner.kernel) } as unknown as Record<string, unknown>;
	const since = optional(object("options", { since: whole(0) }));
	outer.events = async function* (given: unknown) {
		yield* inner.events(since(given) as { since?: number } | undefined);
	};
	for (const [name, readers] of Object.entries(ARGUMENTS)) outer[name] = guarded(inner[name as keyof typeof ARGUMENTS] as Method, readers);
	const scheduler = outer as unknown as Scheduler;
	CHECKED_BEFORE.set(scheduler, { ...inner, kernel: scheduler.kernel, complete: scheduler.complete });
	return scheduler;
}

const CHECKED_BEFORE = new WeakMap<Scheduler, Scheduler>();
/**
 * The same scheduler for RPC, whose methods have checked their parameters by the same fields: an argument is not checked again. Except where RPC accepts more
 * than its fields, and leaves the check to the scheduler: the kernel's methods, the end of a run.
 */
export const forCheckedCalls = (scheduler: Scheduler): Scheduler => CHECKED_BEFORE.get(scheduler) ?? scheduler;

/** The kernel contract's methods take one object each; their own checks name what is wrong in it. */
function kernelWithDoor(inner: Kernel): Kernel {
	const read = (value: unknown) => {
		const { payload, ...rest } = check.record(value, "params");
		const own = copy(check.json(rest, "params", { max: 2_000_000 })) as Record<string, unknown>;
		return payload === undefined || payload === null ? own : { ...own, payload: exactPayload(readPayload(payload, "payload")) };
	};
	const params: Argument = (value) => checked(() => (value === undefined ? {} : check.taking("params", () => read(value))));
	const all = (group: object) =>
		Object.fromEntries(Object.entries(group).map(([name, method]) => [name, guarded(method as Method, [params, act()])]));
	const { agent, ledger, import: take, ...methods } = inner;
	const numbers = (value: unknown, field: string) => check.oneOf(value, ["keep", "new"], field);
	// Each row of a dump is checked where it is written: the dump may be too large to copy at once.
	const plainDump = (value: unknown) => check.record(value, "dump");
	return {
		import: guarded(take as Method, [plainDump, act({ numbers })]),
		...all(methods),
		agent: all(agent),
		ledger: all(ledger),
	} as unknown as Kernel;
}
