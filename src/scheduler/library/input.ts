// Checks the arguments of the library's methods.

import type { Act, ClaimOptions, OpenOptions, RunEnd } from "../../contracts/scheduler.ts";
import type { Granted } from "../../core/agents/permissions/allowing.ts";
import { DENIED_MAX } from "../../core/agents/permissions/denied.ts";
import { PRESETS, type PresetName } from "../../core/config.ts";
import * as check from "../../core/input/check.ts";
import { EXIT_KINDS, MERGE_STATUSES } from "../../core/job.ts";
import { copy } from "../../core/text/copy.ts";
import type { LimitReport } from "../limits/account-holds.ts";
import type { Claimer } from "../operations/claim.ts";
import { scopeKey } from "../operations/control.ts";

export function restamp(job: { created_at: number; runnable_at: number }, now: number, defaulted: boolean): void {
	job.created_at = now;
	if (defaulted) job.runnable_at = now;
}

export function checkedScope(scope: unknown): string {
	const given = check.record(scope, "scope");
	check.knownKeys(given, ["lane", "repo", "batch", "account"], "scope");
	for (const [key, value] of Object.entries(given)) if (value !== undefined) check.label(value, `scope.${key}`);
	return scopeKey(given);
}

/** A breaker belongs to one agent or one repo. */
export function checkedBreaker(of: unknown): string {
	const given = check.record(of, "of");
	check.knownKeys(given, ["agent", "repo"], "of");
	const [[kind, name] = ["agent", undefined], ...more] = Object.entries(given).filter(([, value]) => value !== undefined);
	if (name === undefined || more.length > 0) throw check.wrong("of", "give one agent or one repo");
	return `${kind}:${check.label(name, `of.${kind}`)}`;
}

/** One more for the entry that counts the rest. */
const MOST_DENIED = DENIED_MAX + 1;

/** Checks the grant of an `answer`. */
export function checkGranted(value: unknown): Granted {
	const given = check.record(value, "grant");
	check.knownKeys(given, ["permission", "allow"], "grant");
	const granted: Granted = {};
	if (given.permission !== undefined) granted.permission = check.oneOf(given.permission, ["edit", "full"] as const, "grant.permission");
	if (given.allow !== undefined)
		granted.allow = check
			.list(given.allow, "grant.allow", 10 * MOST_DENIED)
			.map((one, index) => check.text(one, `grant.allow[${index}]`, { max: 1000 }));
	return granted;
}

const ENDING = [
	"job",
	"token",
	"exit_kind",
	"exit_code",
	"message",
	"usage",
	"session",
	"until",
	"until_assumed",
	"retry_after_ms",
	"closed",
	"question",
	"outage",
	"goes_on",
	"denied",
	"closing_question",
	"reboot",
	"fault",
	"merge_status",
	"stays",
] as const satisfies readonly (keyof RunEnd)[];

export function checkEnding(ending: RunEnd): void {
	const given = check.record(ending, "ending");
	check.knownKeys(given, ENDING, "");
	check.integer(ending.job, "job", 1);
	check.integer(ending.token, "token", 1);
	check.oneOf(ending.exit_kind, EXIT_KINDS, "exit_kind");
	if (ending.exit_code !== undefined && ending.exit_code !== null)
		check.integer(ending.exit_code, "exit_code", -2_147_483_648, 4_294_967_295);
	if (ending.message !== undefined) check.text(ending.message, "message");
	if (ending.session !== undefined) check.word(ending.session, "session");
	if (ending.until !== undefined) check.integer(ending.until, "until", 0, check.MAX_TIME);
	if (ending.until_assumed !== undefined) check.text(ending.until_assumed, "until_assumed", { max: 200, lines: "one" });
	if (ending.retry_after_ms !== undefined) check.integer(ending.retry_after_ms, "retry_after_ms", 0, check.MAX_TIME);
	if (ending.closed !== undefined) check.text(ending.closed, "closed");
	if (ending.question !== undefined) check.text(ending.question, "question");
	if (ending.denied !== undefined)
		check.list(ending.denied, "denied", MOST_DENIED).forEach((one, index) => void check.text(one, `denied[${index}]`, { max: 1000 }));
	if (ending.closing_question !== undefined) check.text(ending.closing_question, "closing_question", { max: 4000 });
	if (ending.merge_status !== undefined) check.oneOf(ending.merge_status, MERGE_STATUSES, "merge_status");
	if (ending.outage !== undefined) check.flag(ending.outage, "outage");
	if (ending.goes_on !== undefined) check.flag(ending.goes_on, "goes_on");
	if (ending.reboot !== undefined) check.flag(ending.reboot, "reboot");
	if (ending.fault !== undefined) check.oneOf(ending.fault, ["job"] as const, "fault");
	if (ending.stays !== undefined) check.flag(ending.stays, "stays");
	if (ending.usage === undefined) return;
	for (const [dim, amount] of Object.entries(check.record(ending.usage, "usage"))) {
		check.label(dim, `usage.${dim.slice(0, 40)}`);
		check.integer(amount, `usage.${dim}`, 0);
	}
}

export function checkLimit(report: LimitReport): LimitReport {
	const given = check.record(report, "report") as LimitReport;
	check.knownKeys(given, ["until", "retry_after_ms", "closed"], "");
	if (given.until !== undefined) check.integer(given.until, "until", 0, check.MAX_TIME);
	if (given.retry_after_ms !== undefined) check.integer(given.retry_after_ms, "retry_after_ms", 0, check.MAX_TIME);
	if (given.closed !== undefined) check.text(given.closed, "closed");
	return { ...given };
}

export function checkGrant(
	subject: string,
	dim: string,
	grant: { limit: number | null; warn_at?: number; window?: "hour" | "day" | null; on_breach?: "finish" | "stop"; reserve?: number },
) {
	const match = /^(owner|batch|repo):(.+)$/.exec(check.word(subject, "subject"));
	if (!match) throw check.wrong("subject", `${check.shown(subject)} is no ledger's subject`, "owner:<name>, batch:<name> or repo:<name>");
	check.label(dim, "dim");
	check.knownKeys(grant, ["limit", "warn_at", "window", "on_breach", "reserve"], "");
	return {
		limit: grant.limit === null ? null : check.integer(grant.limit, "limit", 0),
		...(grant.warn_at === undefined ? {} : { warn_at: check.number(grant.warn_at, "warn_at", 0, 1) }),
		...(grant.window === undefined
			? {}
			: { window: grant.window === null ? null : check.oneOf(grant.window, ["hour", "day"] as const, "window") }),
		...(grant.on_breach === undefined ? {} : { on_breach: check.oneOf(grant.on_breach, ["finish", "stop"] as const, "on_breach") }),
		...(grant.reserve === undefined ? {} : { reserve: check.integer(grant.reserve, "reserve", 0) }),
	};
}

export function claimerOf(request: ClaimOptions): Claimer {
	const given = check.record(request, "claim") as ClaimOptions;
	check.knownKeys(given as Record<string, unknown>, ["worker", "max", "lanes", "kinds", "host"], "");
	return {
		worker: check.word(given.worker, "worker"),
		max: given.max === undefined ? 1 : check.integer(given.max, "max", 0, 1000),
		lanes: given.lanes === undefined ? undefined : check.labels(given.lanes, "lanes"),
		kinds:
			given.kinds === undefined
				? ["command", "agent", "payload"]
				: check.list(given.kinds, "kinds").map((kind, index) => check.oneOf(kind, ["command", "agent", "payload"], `kinds[${index}]`)),
		host: given.host === undefined ? undefined : check.label(given.host, "host"),
	};
}

/** Checks the `by` and `reason` of a call. */
export function checkAct<T extends Act>(act: T | null | undefined): T | undefined {
	if (act === undefined || act === null) return undefined;
	return check.taking("options", () => {
		const { by, reason } = check.record(act, "options") as Act;
		if (by !== undefined) check.word(by, "by");
		if (reason !== undefined) check.text(reason, "reason", { max: 10_000 });
		return act;
	});
}

/** Checks the options of `openScheduler`. */
export function checkOpen(options: OpenOptions): OpenOptions {
	return check.taking("options", () => {
		const given = check.record(options, "options") as OpenOptions;
		check.knownKeys(
			given as Record<string, unknown>,
			[
				"path",
				"url",
				"preset",
				"config",
				"clock",
				"host",
				"chance",
				"by",
				"join",
				"settings",
				"drive",
				"fault",
				"piece",
				"poll_others_ms",
				"agents",
				"log",
			],
			"",
		);
		if (given.url !== undefined) {
			if (!/^postgres(?:ql)?:\/\//.test(check.text(given.url, "url", { max: 4096, lines: "one" })))
				throw check.wrong("url", "is no address of a PostgreSQL database", "postgres://user@host:5432/database");
			if (given.path !== undefined) throw check.wrong("path", "is given together with url", "give one of them: a file, or a database");
		} else if (check.text(given.path, "path", { max: 4096, lines: "one" }) === "")
			throw check.wrong("path", "is empty", 'give a file, or ":memory:" for a queue that ends with the process');
		if (given.by !== undefined) check.word(given.by, "by");
		if (given.preset !== undefined) check.oneOf(given.preset, Object.keys(PRESETS) as PresetName[], "preset");
		if (given.drive !== undefined) check.oneOf(given.drive, ["auto", "manual"], "drive");
		if (given.settings !== undefined) check.oneOf(given.settings, ["own", "shared"], "settings");
		if (given.piece !== undefined) check.integer(given.piece, "piece", 1);
		if (given.poll_others_ms !== undefined) check.integer(given.poll_others_ms, "poll_others_ms", 1, 3_600_000);
		const own: OpenOptions = { ...given };
		if (given.config !== undefined)
			own.config = copy(check.json(check.record(given.config, "config"), "config")) as NonNullable<OpenOptions["config"]>;
		if (given.join === undefined) return own;
		const join = check.record(given.join, "join") as NonNullable<OpenOptions["join"]>;
		check.knownKeys(join, ["name", "labels", "repos", "home"], "join");
		if (join.name !== undefined) check.label(join.name, "join.name");
		if (join.home !== undefined) check.word(join.home, "join.home");
		if (join.labels !== undefined) check.labels(join.labels, "join.labels");
		if (join.repos !== undefined)
			check.list(join.repos, "join.repos").forEach((repo, index) => {
				check.label(repo, `join.repos[${index}]`);
			});
		return { ...own, join: copy(join) };
	});
}

/** Checks a list of job numbers and removes duplicates. */
export const checkIds = (given: readonly number[]): number[] => [
	...new Set(check.taking("ids", () => check.list(given, "ids", 100_000).map((one) => check.integer(one, "ids", 1)))),
];
