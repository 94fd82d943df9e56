// A job's document as it is stored. It leaves out fields that columns hold, repetitions, and default values. A document is written at every step of a job's
// life, so each field left out saves serialising, sending, logging and parsing it.

import type { Job, Lock, Run, Status } from "../../core/job.ts";
import type { Parked } from "../../core/parked.ts";

type Table = "job" | "done";

/** The columns that are read of a job, in the order that `unpack` expects. */
export const STORED: Record<Table, string> = {
	job: "doc, id, line, bucket, status, lane, due_at",
	done: "doc, id, 'end', 0, status, lane, NULL, ended_at",
};

/** A row of STORED. */
export type StoredJob = readonly [
	doc: string,
	id: number,
	line: Parked,
	bucket: number,
	status: Status,
	lane: string,
	due_at: number | null,
	ended_at?: number,
];

export function pack(job: Job, table: Table): string {
	let text = "{";
	const fields: Readonly<Record<string, unknown>> = job;
	for (const key in fields) {
		const value = fields[key];
		if (value === undefined || isKnown(job, key, value, table)) continue;
		text += `${text === "{" ? "" : ","}${nameOf(key)}${packed(job, key, value)}`;
	}
	return `${text}}`;
}

function packed(job: Job, key: string, value: unknown): string {
	switch (key) {
		case "run":
			return job.run ? packRun(job.run, job) : json(value);
		case "last_run":
			return job.last_run ? packRun(job.last_run, job) : json(value);
		case "locks":
			return job.locks ? packLocks(job.locks) : json(value);
		default:
			return json(value);
	}
}

function isKnown(job: Job, key: string, value: unknown, table: Table): boolean {
	switch (key) {
		case "id":
		case "status":
		case "lane":
			return true;
		case "parked_on":
			return table === "job" || value === "end";
		case "bucket":
		case "due_at":
			return table === "job";
		case "ended_at":
			// The column holds 0 for a missing `ended_at`, so a real 0 stays in the document.
			return table === "done" && value !== 0;
		case "trigger":
			return value === "manual";
		case "priority":
		case "attempt":
			return value === 0;
		case "runnable_at":
			return value === job.created_at;
		default:
			return false;
	}
}

/** The current or last run, without the fields that equal the job's. `lease_until: true` means that the lease ends at the job's `due_at`. */
function packRun(run: NonNullable<Job["last_run"]> & Pick<Run, "lease_until">, job: Job): string {
	const { attempt, host, started_at, lease_until, ...rest } = run;
	const kept: Record<string, unknown> = rest;
	if (attempt !== job.attempt) kept.attempt = attempt;
	if (host !== "") kept.host = host;
	if (started_at !== job.started_at) kept.started_at = started_at;
	if (lease_until !== undefined) kept.lease_until = lease_until === job.due_at ? true : lease_until;
	return written(kept);
}

/** An exclusive lock, as nearly all are, is stored as its bare key. */
function packLocks(locks: readonly Lock[]): string {
	let text = "";
	for (const lock of locks) text += `${text === "" ? "" : ","}${lock.mode === "exclusive" ? json(lock.key) : written(lock)}`;
	return `[${text}]`;
}

const unpackLock = (lock: Lock | string): Lock => (typeof lock === "string" ? { key: lock, mode: "exclusive" } : lock);

/** Makes a job of a document and its columns. Also reads documents of older versions, which have all fields. */
export function unpack([doc, id, line, bucket, status, lane, due_at, ended_at]: StoredJob): Job {
	const job: Job & { line?: Parked | undefined } = JSON.parse(doc);
	if (job.line !== undefined) {
		job.parked_on = job.line;
		job.line = undefined;
	}
	job.id ??= id;
	job.parked_on ??= line;
	job.bucket ??= bucket;
	job.status ??= status;
	job.lane ??= lane;
	job.trigger ??= "manual";
	job.priority ??= 0;
	job.attempt ??= 0;
	job.runnable_at ??= job.created_at;
	if (typeof due_at === "number") job.due_at ??= due_at;
	if (ended_at) job.ended_at ??= ended_at;
	if (job.locks) job.locks = job.locks.map(unpackLock);
	if (job.run) unpackRun(job.run, job);
	if (job.last_run) unpackRun(job.last_run, job);
	return job;
}

function unpackRun(run: Omit<Run, "token" | "lease_until"> & { lease_until?: unknown }, job: Job): void {
	run.attempt ??= job.attempt;
	run.host ??= "";
	if (job.started_at !== undefined) run.started_at ??= job.started_at;
	if (run.lease_until === true) run.lease_until = job.due_at;
}

/** Equal to JSON.stringify for an object that holds only data, in a third of the time for small objects. */
export function written(data: Readonly<Record<string, unknown>>): string {
	let text = "{";
	for (const key in data) {
		const value = data[key];
		if (value !== undefined) text += `${text === "{" ? "" : ","}${nameOf(key)}${json(value)}`;
	}
	return `${text}}`;
}

/** Strings of these characters need no escaping in JSON. */
const PLAIN = /^[ !#-[\]-~]*$/;

function json(value: unknown): string {
	if (typeof value === "number") return Number.isFinite(value) ? String(value) : "null";
	if (typeof value === "string" && value.length < 50 && PLAIN.test(value)) return `"${value}"`;
	return JSON.stringify(value);
}

const names = new Map<string, string>();
const MOST_NAMES = 1000;

/** A field's name as JSON, with its colon. */
function nameOf(key: string): string {
	const known = names.get(key);
	if (known !== undefined) return known;
	const name = `${JSON.stringify(key)}:`;
	if (names.size < MOST_NAMES) names.set(key, name);
	return name;
}
