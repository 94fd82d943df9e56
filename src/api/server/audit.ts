// Which calls are written down, and what of each: who called what, when, from where, on which jobs or names, and how it ended. Never texts, values, prompts or
// commands, which may hold secrets.
//
//   call      a call that changes something
//   worker    the same, of a method that workers call all the time (claims, heartbeats, ends): kept apart, so that they do not push out what people did

import { codeOf } from "../../core/errors.ts";
import type { Field } from "../../core/schema/field.ts";
import type { Caller } from "../context.ts";
import { isAtLeast, type Method } from "../fields.ts";
import { METHODS, type MethodName } from "../protocol.ts";
import { Refusal } from "../refusal.ts";

/** `at`: epoch milliseconds. `what`: parameters that name something. `outcome`: `ok`, or the code of the refusal. */
export type AuditEntry = {
	at: number;
	host: string;
	by: string;
	role: string;
	/** An address, or `socket`. */
	from: string;
	method: string;
	what: Record<string, unknown>;
	outcome: string;
	kind: "call" | "worker";
};

export type AuditFilter = {
	limit: number;
	by?: string | undefined;
	method?: string | undefined;
	since?: number | undefined;
	workers: "with" | "without";
};

/** The record of calls. `note` never fails and never waits; `read` returns the newest first. */
export type AuditRecord = {
	note(entry: Omit<AuditEntry, "at" | "host">): void;
	read(filter: AuditFilter): Promise<{ entries: AuditEntry[]; missing: string[] }>;
};

/** Methods above the role of a viewer that change nothing. */
const READ_ONLY: readonly MethodName[] = ["doctor.run", "people.list", "audit.list"];
/** What workers and agents call once or more for each job. */
const WORKERS: readonly MethodName[] = [
	"job.claim",
	"job.extend",
	"job.complete",
	"account.acquire",
	"account.release",
	"kernel.sched.claim",
	"kernel.sched.complete",
	"kernel.sched.extend",
	"kernel.ledger.charge",
	"kernel.ledger.refund",
];

/** Null: the call changes nothing. `acted`: of a method that acts with some parameters and reads with others. */
export function auditKind(method: MethodName, acted: boolean): AuditEntry["kind"] | null {
	if (READ_ONLY.includes(method)) return null;
	if (!acted && !isAtLeast(METHODS[method].role, "run")) return null;
	return WORKERS.includes(method) ? "worker" : "call";
}

/** Kinds of parameters that name something or choose. Every other kind may hold secrets or long texts. */
const SHOWN: readonly Field["kind"][] = ["id", "ids", "word", "flag", "whole", "number", "choice", "choices", "time", "duration"];
const LONGEST = 100;

export function auditEntry(
	caller: Caller,
	by: string,
	method: MethodName,
	params: unknown,
	ended: { answer: unknown } | { error: unknown },
) {
	const { params: fields }: Method = METHODS[method];
	const given = params !== null && typeof params === "object" && !Array.isArray(params) ? (params as Record<string, unknown>) : {};
	const what: Record<string, unknown> = {};
	for (const [name, { kind }] of Object.entries(fields)) {
		const value = given[name];
		if (value !== undefined && value !== null && SHOWN.includes(kind)) what[name] = bounded(value);
	}
	const made = "answer" in ended ? madeJob(ended.answer) : undefined;
	if (made !== undefined && what.id === undefined && what.job === undefined) what.job = made;
	return {
		by,
		role: caller.role,
		from: caller.from ?? caller.channel,
		method,
		what,
		outcome: "answer" in ended ? "ok" : codeIn(ended.error),
	};
}

function bounded(value: unknown): unknown {
	const text = JSON.stringify(value);
	return text.length <= LONGEST ? value : `${text.slice(0, LONGEST)}…`;
}

/** The job that a call has added. */
function madeJob(answer: unknown): number | undefined {
	const { job } = (answer ?? {}) as { job?: { id?: unknown } | null };
	return typeof job?.id === "number" ? job.id : undefined;
}

const codeIn = (error: unknown): string => (error instanceof Refusal ? error.data.code : codeOf(error) || "internal");
