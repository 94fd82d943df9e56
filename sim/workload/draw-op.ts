// Random operations that are not about a new job: claims, endings, clocks, operators, holds, budgets, kernel calls.

import type { PauseScope } from "../../src/contracts/scheduler.ts";
import type { Granted } from "../../src/core/agents/permissions/allowing.ts";
import { EXIT_KINDS } from "../../src/core/job.ts";
import type { Act, EndPlan, Op, Whom } from "../operation.ts";
import type { Random } from "../random.ts";
import type { Drawing } from "./draw-job.ts";
import { ACCOUNTS, BATCHES, DIMS, ITEMS, KEYS, MARKERS, OWNERS, REPOS, SOURCE } from "./themes.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;

const whom = (random: Random, of: Whom["of"]): Whom => ({ of, pick: random.int(2 ** 31) });

export function drawAdvance({ random, themes }: Drawing, id: number): Op {
	const size = random.weighted({
		small: 4,
		seconds: 4,
		minutes: 4,
		hour: themes.has("old") ? 3 : 1,
		day: themes.has("gc") || themes.has("old") ? 1 : 0.2,
	});
	const ms =
		size === "small"
			? random.between(1, 900)
			: size === "seconds"
				? random.between(1000, 40_000)
				: size === "minutes"
					? random.between(MINUTE, 15 * MINUTE)
					: size === "hour"
						? random.between(30 * MINUTE, 3 * HOUR)
						: 26 * HOUR;
	const jump = themes.has("jumps") && random.chance(0.3) ? { jump: random.pick([2 * HOUR, 10 * MINUTE, -5000, -2 * MINUTE]) } : {};
	return { id, kind: "advance", ms, ...jump };
}

export function drawClaim({ random, themes, config }: Drawing, id: number): Op {
	const lanes = random.chance(0.12) ? { lanes: random.some(Object.keys(config.lanes), 0.6) } : {};
	const kinds = random.chance(0.08) ? { kinds: random.some(["command", "agent", "payload"] as const, 0.6) } : {};
	return {
		id,
		kind: "claim",
		max: random.pick([1, 1, 1, 2, 3, 10]),
		...lanes,
		...kinds,
		...(random.chance(0.75) ? { host: themes.has("two") && random.chance(0.4) ? "h1" : "h0" } : {}),
		...(random.chance(0.1) ? { by_hand: true as const } : {}),
	};
}

export function drawEnd({ random, themes }: Drawing, id: number): Op {
	const kinds: Partial<Record<(typeof EXIT_KINDS)[number], number>> = { completed: 12, failed: 4 };
	for (const kind of EXIT_KINDS) kinds[kind] ??= 0.4;
	if (themes.has("launches")) kinds.launch_failed = 10;
	if (themes.has("accounts")) kinds.rate_limited = 4;
	if (themes.has("approval")) kinds.needs_human = 2;
	if (themes.has("recover")) kinds.lost = 2;
	const kind = random.weighted(kinds);
	const end: EndPlan = { kind };
	if (kind === "launch_failed" && random.chance(0.3)) end.fault = "job";
	if (kind === "failed" || kind === "crashed") end.code = random.pick([1, 2, 137]);
	if (kind === "completed" && random.chance(0.5)) end.code = 0;
	if (kind === "cancelled" && random.chance(0.5)) end.code = random.pick([0, 130]);
	if (themes.has("budgets") && random.chance(0.5))
		end.usage = { tokens: random.between(1, 60), ...(random.chance(0.3) ? { cost_micro: random.between(1, 60) } : {}) };
	if (themes.has("accounts") && random.chance(0.5)) end.session = `s${id}`;
	if (kind === "rate_limited") {
		if (random.chance(0.4)) end.until_in = random.pick([20_000, 2 * HOUR, 2 * HOUR]);
		else if (random.chance(2 / 5)) end.retry_after_ms = random.pick([500, 90_000]);
		else if (random.chance(0.1)) end.closed = "billing";
	}
	if (kind === "needs_human") end.question = "which one?";
	// By the number of the operation: what is drawn after it stays the same.
	if (id % 3 === 0 && (kind === "needs_human" || kind === "completed")) end.denied = id % 2 === 0 ? [`Bash: task ${id % 5}`] : [];
	if (id % 5 === 0 && kind === "completed") end.closing_question = "and now?";
	if (kind === "lost" && random.chance(0.4)) end.reboot = true;
	if (kind === "completed" && themes.has("merges") && random.chance(0.4))
		end.merge_status = random.pick(["merged", "pending", "conflict", "kept", "requested"]);
	const token = themes.has("stale") && random.chance(0.15) ? { token: random.pick(["stale" as const, "twice" as const]) } : {};
	return { id, kind: "end", whom: whom(random, "running"), end, ...(random.chance(0.6) ? { started: true as const } : {}), ...token };
}

export const GRANTS: { grant?: Granted }[] = [
	{},
	{ grant: { permission: "full" } },
	{ grant: { allow: ["Bash: task 1"] } },
	{ grant: { permission: "edit", allow: ["Bash: task 2"] } },
];

/** Of up to so many; the same job may be picked twice. */
export function drawCancelAll(random: Random, id: number, most: number): Op {
	const picks = Array.from({ length: random.between(1, most) }, () => random.int(2 ** 31));
	return { id, kind: "cancel_all", of: random.chance(0.8) ? "waiting" : "any", picks };
}

/** By the number of the operation: what is drawn after it stays the same. */
function editOf({ themes, config }: Drawing, id: number, pick: number): Op {
	const lanes = Object.keys(config.lanes);
	const lane = lanes[id % lanes.length] ?? "default";
	const whom: Whom = { of: "waiting", pick };
	switch (Math.floor(id / 8) % 5) {
		case 0:
			return { id, kind: "edit", whom, set: { priority: id % 30, lane } };
		case 1:
			return themes.has("after") ? { id, kind: "edit", whom, after: { pick: pick + id } } : { id, kind: "edit", whom, set: { lane } };
		case 2:
			return { id, kind: "edit", whom, after: {}, set: { priority: id % 7 } };
		case 3:
			return { id, kind: "edit", whom, set: themes.has("locks") ? { locks: [KEYS[id % KEYS.length] ?? "k"] } : { priority: 1 } };
		default:
			return { id, kind: "edit", whom, set: id % 3 === 0 ? { hold: true } : { requires_approval: true } };
	}
}

/** Where people approve, they also hold and release. By the number of the operation: what is drawn after it stays the same. */
export function drawAct(d: Drawing, id: number): Op {
	const op = drawOther(d, id);
	if (id % 16 === 7 && op.kind === "extend")
		return { id, kind: "act", what: id % 32 === 7 ? "freeze" : "thaw", whom: { of: "running", pick: op.whom.pick } };
	if (d.themes.has("ranks") && id % 8 === 1 && op.kind === "act") return editOf(d, id, op.whom.pick);
	if (!d.themes.has("approval") || id % 4 !== 0 || op.kind !== "act" || op.whom.of === "ended") return op;
	const what = id % 8 === 0 ? "hold" : "release";
	const of = op.whom.of === "missing" || op.whom.of === "any" ? op.whom.of : what === "hold" ? "waiting" : "held";
	return { id, kind: "act", what, whom: { of, pick: op.whom.pick } };
}

function drawOther({ random, themes }: Drawing, id: number): Op {
	const what: Exclude<Act, "hold" | "release" | "freeze" | "thaw"> | "cancel" | "cancel_all" | "extend" | "merged" = random.weighted({
		cancel: 5,
		cancel_all: 1.5,
		extend: 3,
		promote: themes.has("ranks") ? 4 : 0.3,
		demote: themes.has("ranks") ? 4 : 0.3,
		priority: themes.has("ranks") ? 2 : 0.3,
		runNow: themes.has("ranks") ? 4 : 0.3,
		approve: themes.has("approval") ? 8 : 0.2,
		reject: themes.has("approval") ? 2 : 0.2,
		answer: themes.has("approval") ? 4 : 0.2,
		retry: themes.has("rewinds") ? 8 : 0.5,
		rerun: themes.has("rewinds") ? 5 : 0.5,
		merged: themes.has("merges") ? 6 : 0,
	});
	const odd = random.chance(0.08);
	const aim = (of: Whom["of"]) => whom(random, odd ? random.pick(["any", "missing"]) : of);
	if (what === "cancel")
		return {
			id,
			kind: "cancel",
			whom: aim(random.chance(0.4) ? "running" : "waiting"),
			...(random.chance(0.3) ? { subtree: true as const } : {}),
		};
	if (what === "cancel_all") return drawCancelAll(random, id, random.chance(0.3) ? 40 : 5);
	if (what === "extend")
		return {
			id,
			kind: "extend",
			whom: whom(random, "running"),
			...(themes.has("stale") && random.chance(0.2) ? { stale: true as const } : {}),
		};
	if (what === "merged")
		return {
			id,
			kind: "merged",
			whom: aim("ended"),
			status: random.pick(["merged", "merged", "conflict", "verify_failed", "base_dirty", "kept"]),
		};
	if (what === "approve" || what === "reject") return { id, kind: "act", what, whom: aim("asking"), text: "yes" };
	if (what === "answer") return { id, kind: "act", what, whom: aim("asking"), text: "yes", ...GRANTS[id % GRANTS.length] };
	if (what === "retry" || what === "rerun") return { id, kind: "act", what, whom: aim(random.chance(0.7) ? "ended" : "waiting") };
	return {
		id,
		kind: "act",
		what,
		whom: aim("waiting"),
		value: random.between(-5, 30),
		...(what === "runNow" && random.chance(0.5) ? { force: true as const } : {}),
	};
}

/** Runs wait mostly for what waits, now and then for what runs or has ended. */
export function drawWait({ random, themes }: Drawing, id: number): Op {
	const what = random.weighted({ wait: 8, unwait: 2, unwait_all: 0.5 });
	if (what === "unwait") return { id, kind: what, pick: random.int(2 ** 31) };
	if (what === "unwait_all") return { id, kind: what };
	const picks = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => random.int(2 ** 31));
	const stale = themes.has("stale") && random.chance(0.1) ? { stale: true as const } : {};
	return { id, kind: what, whom: whom(random, "running"), of: random.pick(["waiting", "waiting", "running", "any"]), picks, ...stale };
}

const scope = ({ random, themes, config }: Drawing): PauseScope => {
	const of = random.weighted({
		all: 3,
		lane: 3,
		repo: themes.has("repos") ? 2 : 0,
		batch: themes.has("batches") ? 4 : 0,
		account: themes.has("accounts") ? 2 : 0,
	});
	if (of === "lane") return { lane: random.pick(Object.keys(config.lanes)) };
	if (of === "repo") return { repo: random.pick(REPOS) };
	if (of === "batch") return { batch: random.pick(BATCHES) };
	return of === "account" ? { account: random.pick(ACCOUNTS) } : {};
};

export function drawStanding(d: Drawing, id: number): Op {
	const { random, themes } = d;
	const kind = random.weighted({
		pause: themes.has("pauses") ? 4 : 0.2,
		resume: themes.has("pauses") ? 6 : 0.4,
		clear: themes.has("items") ? 0.6 : 0.2,
		mark: themes.has("artifacts") ? 6 : 0,
		limit: themes.has("accounts") ? 3 : 0,
		clear_account: themes.has("accounts") ? 2 : 0,
		acquire: themes.has("calls") ? 5 : 0,
		release: themes.has("calls") ? 4 : 0,
		grant: themes.has("budgets") ? 5 : 0,
		charge: themes.has("budgets") ? 5 : 0,
		heartbeat: 0.5,
	});
	const account = random.pick(ACCOUNTS);
	const subject = random.pick([
		...OWNERS.map((one) => `owner:${one}`),
		...(themes.has("batches") ? BATCHES.map((one) => `batch:${one}`) : []),
		...(themes.has("repos") ? REPOS.map((one) => `repo:${one}`) : []),
	]);
	switch (kind) {
		case "pause":
			return { id, kind, scope: scope(d), ...(random.chance(0.3) ? { until_in: random.pick([2000, 5 * MINUTE]) } : {}) };
		case "resume":
			return { id, kind, scope: scope(d) };
		case "clear":
			return { id, kind, ...(random.chance(0.7) ? { item: `${SOURCE}:${random.pick(ITEMS)}` } : {}) };
		case "mark":
			return { id, kind, artifact: random.pick(MARKERS), ...(random.chance(0.35) ? { absent: true as const } : {}) };
		case "limit":
			return { id, kind, account, ...random.pick([{ until_in: HOUR }, { retry_after_ms: 5000 }, {}, { closed: "auth" }]) };
		case "clear_account":
			return { id, kind, account };
		case "acquire":
		case "release":
			return { id, kind, account, holder: random.pick(["a", "b", "c"]) };
		case "grant":
			return {
				id,
				kind,
				subject,
				dim: random.pick(DIMS),
				limit: random.pick([null, 0, 1, 3, 50, 200]),
				...(random.chance(0.3) ? { window: random.pick(["hour", "day", null] as const) } : {}),
				...(random.chance(0.3) ? { on_breach: random.pick(["finish", "stop"] as const) } : {}),
				...(random.chance(0.4) ? { reserve: random.pick([0, 1, 2, 30]) } : {}),
			};
		case "charge":
			return { id, kind, subject, dim: random.pick(DIMS), amount: random.between(1, 40) };
		case "heartbeat":
			return { id, kind, host: "h0" };
	}
}

export function drawKernel({ random }: Drawing, id: number): Op {
	const pick = random.int(2 ** 31);
	const kind = random.weighted({
		k_agent: 3,
		k_move: 2,
		k_enqueue: 10,
		k_claim: 8,
		k_complete: 6,
		k_cancel: 2,
		k_extend: 2,
		k_expire: 2,
		k_stale: 1,
		k_grant: 2,
		k_charge: 3,
		k_refund: 1,
		k_check: 1,
	});
	const dim = random.pick(["tokens", "wall_s"]);
	switch (kind) {
		case "k_agent":
			return { id, kind, name: `agent-${id}` };
		case "k_move":
			return { id, kind, pick, to: random.pick(["RUNNING", "WAITING", "SUSPENDED", "READY", "DEAD"]) };
		case "k_enqueue":
			return {
				id,
				kind,
				pick,
				...(random.chance(0.5) ? { priority: random.between(-3, 10) } : {}),
				...(random.chance(0.3) ? { in_s: random.pick([-5, 3, 60]) } : {}),
				...(random.chance(0.3) ? { deadline_in_s: random.pick([2, 30, 600]) } : {}),
				...(random.chance(0.3) ? { trigger: random.pick(["cron", "event"]) } : {}),
				...(random.chance(0.2) ? { unique: random.pick([["pid" as const], ["pid" as const, "trigger" as const]]) } : {}),
				...(random.chance(0.05) ? { bad: true as const } : {}),
			};
		case "k_claim":
			return {
				id,
				kind,
				worker: random.pick(["w1", "w2"]),
				max: random.pick([1, 2, 5]),
				...(random.chance(0.2) ? { unchecked: true as const } : {}),
			};
		case "k_complete":
			return {
				id,
				kind,
				pick,
				exit: random.pick(["completed", "completed", "cancelled", "failed", "crashed"]),
				...(random.chance(0.1) ? { wrong_worker: true as const } : {}),
			};
		case "k_cancel":
			return { id, kind, pick };
		case "k_extend":
			return { id, kind, pick, ...(random.chance(0.1) ? { wrong_worker: true as const } : {}) };
		case "k_expire":
			return { id, kind };
		case "k_stale":
			return { id, kind, seconds: random.pick([1, 60]) };
		case "k_grant":
			return {
				id,
				kind,
				pick,
				dim,
				limit: random.pick([0, 5, 100]),
				...(random.chance(0.3) ? { window: random.pick(["hour", "day"] as const) } : {}),
			};
		case "k_charge":
		case "k_refund":
		case "k_check":
			return { id, kind, pick, dim, amount: random.between(1, 8) };
	}
}
