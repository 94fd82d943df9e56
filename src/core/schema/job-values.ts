// Values that only some fields of a job have: a command, a branch, predecessors, locks, artifacts, conditions, a retry policy.

import { SluiceError } from "../errors.ts";
import { ARTIFACT_KINDS, artifactFault, branchFault } from "../fact.ts";
import * as check from "../input/check.ts";
import { MODES, splitLock } from "../input/lock.ts";
import { type Condition, EXIT_KINDS, type Lock, type LockMode, POLICIES, type Policy, type RetryPolicy } from "../job.ts";
import { choice, decimal, duration, field, listOf, maybe, objectSchema, type Ref, readRef, shape, whole, word } from "./field.ts";

const TEXT = { type: "string" };

export function readBranch(value: unknown, at: string): string {
	const name = check.text(value, at, { max: check.MAX_NAME, lines: "one" });
	const fault = name === "" ? "is empty" : branchFault(name);
	if (fault !== undefined) throw check.wrong(at, fault);
	return name;
}
export const branch = (about: string) => field("word", about, readBranch, TEXT);

function readArgv(value: unknown, at: string): string[] {
	if (typeof value === "string") {
		const isShort = value.length <= 60;
		const words = isShort ? value.trim().split(/\s+/).join(", ") : "program, word, word";
		throw check.wrong(
			at,
			`must be a list, not ${check.shown(value)}`,
			`write [${words}], or [sh, -c, ${isShort ? JSON.stringify(value) : '"…"'}] for a shell line`,
		);
	}
	const all = check.list(value, at, 10_000).map((one, index) => check.text(one, `${at}[${index}]`, { max: 131_072 }));
	if (all.length === 0 || all[0] === "") throw check.wrong(at, "must name a program");
	return all;
}
export const argv = (about: string) => field("list", about, readArgv, { type: "array", items: TEXT, minItems: 1 });

/** Texts by name. */
export const variables = (about: string, name: RegExp) =>
	field(
		"object",
		about,
		(value, at): Record<string, string> => {
			const entries = Object.entries(check.record(value, at));
			if (entries.length > 1000) throw new SluiceError("limit", `${at}: ${entries.length} entries, at most 1000`, { field: at });
			return Object.fromEntries(
				entries.map(([key, one]) => {
					if (!name.test(key) || key.length > check.MAX_NAME || key === "__proto__")
						throw check.wrong(`${at}.${key.slice(0, 40)}`, "is not a name that can be used here");
					return [key, check.text(one, `${at}.${key}`, { max: 131_072 })];
				}),
			);
		},
		{ type: "object", additionalProperties: TEXT },
	);

/** Amounts by name. */
export const amounts = (about: string) =>
	field(
		"object",
		about,
		(value, at): Record<string, number> =>
			Object.fromEntries(
				Object.entries(check.record(value, at)).map(([key, one]) => [key, check.integer(one, `${at}.${key.slice(0, 40)}`, 1, 1_000_000)]),
			),
		{ type: "object", additionalProperties: { type: "integer", minimum: 1, maximum: 1_000_000 } },
	);

const POLICY = choice("What must have become of it.", POLICIES);
const PREDECESSOR = { job: field<Ref>("id", "The job.", readRef, { type: ["string", "integer"] }), policy: maybe(POLICY) };
type Predecessor = { ref: Ref; policy: Policy };
export const predecessors = (about: string) =>
	field<Predecessor[], (Ref | { job: Ref; policy?: Policy })[]>("list", about, readPredecessors, {
		type: "array",
		items: { anyOf: [{ type: ["string", "integer"] }, objectSchema(PREDECESSOR)] },
	});

function readPredecessors(value: unknown, at: string): Predecessor[] {
	const seen = new Map<Ref, Predecessor>();
	for (const [index, one] of check.list(value, at).entries()) {
		const read = readPredecessor(one, `${at}[${index}]`);
		if (seen.has(read.ref))
			throw check.wrong(`${at}[${index}]`, `names ${check.shown(read.ref)} a second time`, "name each predecessor once");
		seen.set(read.ref, read);
	}
	return [...seen.values()];
}

/** In one of its three forms: 7, "7:any", {job: 7, policy: "any"}. */
function readPredecessor(value: unknown, at: string): Predecessor {
	let job: unknown = value;
	let policy: unknown;
	if (value !== null && typeof value === "object") {
		const given = check.record(value, at);
		check.knownKeys(given, ["job", "policy"], at);
		({ job, policy } = given);
	} else if (typeof value === "string") {
		// Names have no colons: the part after a colon is a policy.
		const match = /^(.+):([^:]*)$/s.exec(value);
		if (match) [, job, policy] = match;
	}
	const ref = readRef(job, at);
	return { ref, policy: policy === undefined ? "success" : POLICY.read(policy, `${at}.policy`) };
}

const LOCK = shape("A lock.", { key: word("The lock."), mode: maybe(choice("How it is held.", MODES)) });
export const locks = (about: string) =>
	listOf<Lock, string | { key: string; mode?: LockMode }>(
		about,
		(value, at) => {
			const { key, mode = "exclusive" } = LOCK.read(typeof value === "string" ? splitLock(value, at) : value, at);
			return { key, mode };
		},
		{ max: 100, items: { anyOf: [TEXT, LOCK.schema] } },
	);

export const artifacts = (about: string) =>
	listOf(
		`${about} kind:value, with one of the kinds ${ARTIFACT_KINDS.join(", ")}.`,
		(value, at) => {
			const artifact = check.text(value, at, { max: 1000, lines: "one" });
			const fault = artifactFault(artifact);
			if (fault !== undefined) throw check.wrong(at, fault);
			return artifact;
		},
		{ max: 1000 },
	);

const CONDITION = {
	kind: choice("What is looked at.", ["clean_worktree", "branch_exists", "command"]),
	branch: maybe(branch("The branch.")),
	argv: maybe(argv("The command.")),
};
export const conditions = (about: string) =>
	listOf<Condition, string | Condition>(about, readCondition, { max: 100, items: { anyOf: [TEXT, objectSchema(CONDITION)] } });

function readCondition(value: unknown, at: string): Condition {
	if (value === "clean_worktree") return { kind: "clean_worktree" };
	if (typeof value === "string") {
		const match = /^branch_exists:(.+)$/.exec(value);
		if (match) return { kind: "branch_exists", branch: readBranch(match[1], at) };
		throw check.wrong(
			at,
			`${check.shown(value)} is not a condition`,
			'clean_worktree, branch_exists:<name>, or {kind: "command", argv: [...]}',
		);
	}
	const given = check.record(value, at);
	check.knownKeys(given, Object.keys(CONDITION), at);
	const kind = CONDITION.kind.read(given.kind, `${at}.kind`);
	if (kind === "command") return { kind, argv: readArgv(given.argv, `${at}.argv`) };
	return kind === "branch_exists" ? { kind, branch: readBranch(given.branch, `${at}.branch`) } : { kind };
}

const COMMIT = field(
	"word",
	"Where it must point.",
	(value, at) => {
		const commit = check.word(value, at);
		if (!/^[0-9a-f]{4,64}$/.test(commit)) throw check.wrong(at, `${check.shown(commit)} is not a commit id`);
		return commit;
	},
	TEXT,
);
export const pin = (about: string) => shape(about, { branch: branch("The branch."), commit: COMMIT });

export const unique = (about: string) =>
	shape(about, {
		key: word("The key."),
		window_ms: maybe(duration("Also against jobs added within this time.")),
		policy: maybe(choice("Else.", ["skip", "replace", "error"])),
	});

const RETRY = shape("A policy.", {
	max: maybe(whole("Retries after the first run; 0 = none.", 0, 1000)),
	base_ms: maybe(duration("The first delay.")),
	factor: maybe(decimal("Each delay is so many times the one before.", 1, 100)),
	jitter: maybe(decimal("± this share of the delay.", 0, 1)),
	cap_ms: maybe(duration("The longest delay.")),
	on: maybe(
		listOf("Which ends of a run are retried.", (value, at) => check.oneOf(value, EXIT_KINDS, at), {
			max: 20,
			items: { enum: [...EXIT_KINDS] },
		}),
	),
});
/** A number of retries, or parts of a policy. */
export const readRetry = (value: unknown, at: string): Partial<RetryPolicy> =>
	typeof value === "number" ? { max: check.integer(value, at, 0, 1000) } : RETRY.read(value, at);
export const retry = (about: string) =>
	field<Partial<RetryPolicy>, Partial<RetryPolicy> | number>("object", about, readRetry, { anyOf: [{ type: "integer" }, RETRY.schema] });

export const labels = (about: string) => field("words", about, check.labels, { type: "array", items: TEXT });
