// What a person types into the form for a job, and the job's input that it becomes. Pure.

import type { JobDocument } from "../../src/api/documents.ts";
import type { JobInput } from "../../src/core/job.ts";
import { commandLine } from "../state/row.ts";

export const KINDS = ["agent", "command", "recipe"] as const;
export type DraftKind = (typeof KINDS)[number];

/** The text fields, by the name of the job's field that each becomes. */
export const TEXTS = [
	"prompt",
	"command",
	"recipe",
	"args",
	"agent",
	"model",
	"permission",
	"repo",
	"base_branch",
	"cwd",
	"lane",
	"after",
	"priority",
	"account",
	"name",
	"title",
	"batch",
	"owner",
	"retry",
	"timeout",
	"runnable_at",
	"locks",
] as const;
export type DraftText = (typeof TEXTS)[number];

export type JobDraft = Record<DraftText, string> & {
	kind: DraftKind;
	vars: Record<string, string>;
	requires_approval: boolean;
	no_merge: boolean;
	/** The command word by word, for as long as its text was not changed. */
	argv: string[] | null;
	/** Fields that the form does not show, of the job that is cloned. */
	rest: JobInput;
};

export const emptyDraft = (): JobDraft => ({
	...(Object.fromEntries(TEXTS.map((key) => [key, ""])) as Record<DraftText, string>),
	kind: "agent",
	vars: {},
	requires_approval: false,
	no_merge: false,
	argv: null,
	rest: {},
});

/** A draft that was kept as text; anything else is an empty one. */
export function readDraft(text: string): JobDraft | null {
	try {
		const found = JSON.parse(text) as Partial<JobDraft>;
		return { ...emptyDraft(), ...found };
	} catch {
		return null;
	}
}

/** Whether a person has typed anything worth keeping. */
export const isWritten = (draft: JobDraft): boolean => JSON.stringify(draft) !== JSON.stringify({ ...emptyDraft(), kind: draft.kind });

const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Fields that are of no use for a kind of job are left out, so that a change of mind leaves nothing behind. */
const ONLY: Partial<Record<DraftText, readonly DraftKind[]>> = {
	prompt: ["agent"],
	command: ["command"],
	recipe: ["recipe"],
	args: ["recipe"],
	model: ["agent", "recipe"],
	permission: ["agent", "recipe"],
	agent: ["agent", "recipe"],
};
export const isFor = (key: DraftText, kind: DraftKind): boolean => ONLY[key]?.includes(kind) ?? true;

export function inputOf(draft: JobDraft): JobInput {
	const { kind } = draft;
	const input: Record<string, unknown> = { ...draft.rest };
	for (const key of TEXTS) {
		const text = draft[key].trim();
		if (text === "" || !isFor(key, kind)) continue;
		if (key === "command")
			input.command = draft.argv !== null && commandLine(draft.argv) === draft.command ? draft.argv : shell(draft.command);
		else if (key === "prompt" || key === "args") input[key] = draft[key];
		// A job is named by its name or number: a number as text would be looked up as a name.
		else if (key === "after") input.after = listOf(text).map((one) => (/^\d+$/.test(one) ? Number(one) : one));
		else if (key === "locks") input.locks = listOf(text);
		else if (key === "priority" || key === "retry") input[key] = /^-?\d+$/.test(text) ? Number(text) : text;
		else if (key === "runnable_at") input.runnable_at = localTime(text);
		else input[key] = text;
	}
	const vars = Object.entries(draft.vars).filter(([, value]) => value !== "");
	if (kind === "recipe" && vars.length > 0) input.vars = Object.fromEntries(vars);
	if (draft.requires_approval) input.requires_approval = true;
	if (draft.no_merge && draft.repo !== "") input.no_merge = true;
	return input as JobInput;
}

const shell = (script: string): string[] => ["/bin/sh", "-c", script];
/** The browser's field gives local time without a zone. */
const localTime = (text: string): string => {
	const at = Date.parse(text);
	return Number.isNaN(at) ? text : new Date(at).toISOString();
};
/** Fields of a job that a copy takes along though the form does not show them. */
const COPIED = [
	"needs",
	"produces",
	"host_labels",
	"conditions",
	"uses",
	"worktree",
	"merge",
	"stall_timeout",
	"allow",
	"expect",
	"commit",
	"mode",
] as const;
const USUAL: Partial<Record<(typeof COPIED)[number], unknown>> = { expect: "any", commit: "auto" };
const isSaid = (value: unknown): boolean =>
	value !== null && value !== undefined && (typeof value !== "object" || Object.keys(value as object).length > 0);

/** The form filled with what a job is, for a copy: without its name, its time and its item. */
export function draftOf(job: JobDocument): JobDraft {
	const draft = emptyDraft();
	const put = (key: DraftText, value: unknown) => {
		if (isSaid(value)) draft[key] = String(value);
	};
	draft.kind = job.recipe !== null ? "recipe" : job.agent !== null ? "agent" : "command";
	for (const key of [
		"agent",
		"model",
		"repo",
		"base_branch",
		"cwd",
		"lane",
		"account",
		"title",
		"batch",
		"owner",
		"recipe",
		"args",
	] as const)
		put(key, job[key]);
	if (job.recipe === null) put("prompt", job.prompt);
	if (job.command !== null) {
		draft.argv = job.command;
		draft.command = commandLine(job.command);
	}
	if (job.permission !== "edit") put("permission", job.permission);
	if (job.priority !== 0) put("priority", job.priority);
	if (job.timeout !== null) put("timeout", `${job.timeout}ms`);
	put("retry", job.retry.max > 0 ? job.retry.max : null);
	put("locks", job.locks.map(({ key, mode }) => (mode === "shared" ? `${key}:shared` : key)).join(" "));
	put("after", job.after.map(({ job: id, policy }) => (policy === "success" ? id : `${id}:${policy}`)).join(" "));
	draft.vars = { ...(job.vars ?? {}) };
	draft.requires_approval = job.requires_approval;
	draft.no_merge = job.no_merge;
	for (const key of COPIED) {
		const value = job[key as keyof JobDocument];
		if (isSaid(value) && USUAL[key] !== value) Object.assign(draft.rest, { [key]: value });
	}
	return draft;
}

const LISTS = { after: ", ", locks: " " } as const;
const oneOf = (value: unknown): string => (typeof value === "object" && value !== null ? words(value) : String(value));
/** A predecessor or a lock that the daemon tells as an object, as people write it. */
const words = (value: { job?: unknown; ref?: unknown; key?: unknown; policy?: unknown; mode?: unknown }): string => {
	const { job, ref = job, key = ref, policy, mode = policy } = value;
	return mode === undefined || mode === "success" || mode === "exclusive" ? String(key) : `${String(key)}:${String(mode)}`;
};

/** The form filled with the fields of a job that waits, as `job.edit` tells them; what the form cannot show stays as it is. */
export function draftOfInput(input: JobInput): JobDraft {
	const draft = emptyDraft();
	const rest: Record<string, unknown> = { ...input };
	for (const key of TEXTS) {
		const value = rest[key];
		const isList = key === "after" || key === "locks";
		if (value === undefined || value === null || (typeof value === "object" && !isList && key !== "command")) continue;
		if (key === "command") {
			draft.argv = input.command ?? null;
			draft.command = commandLine(input.command ?? []);
		} else if (isList) draft[key] = (Array.isArray(value) ? value : [value]).map(oneOf).join(LISTS[key]);
		else if (key === "timeout" && typeof value === "number") draft.timeout = `${value}ms`;
		else if (key === "runnable_at") draft.runnable_at = localField(value as string | number);
		else draft[key] = String(value);
		delete rest[key];
	}
	const { requires_approval, no_merge, vars, ...others } = rest as JobInput;
	draft.kind = input.recipe !== undefined ? "recipe" : input.agent !== undefined ? "agent" : "command";
	return { ...draft, requires_approval: requires_approval === true, no_merge: no_merge === true, vars: { ...vars }, rest: others };
}

const localField = (at: string | number): string => {
	const time = new Date(at);
	return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** What an edit changes: both as the form tells them, so that what was not touched is the same on both sides. */
export function changeOf(before: JobDraft, after: JobDraft): { set: JobInput; unset: string[] } {
	const [was, is]: [Record<string, unknown>, Record<string, unknown>] = [{ ...inputOf(before) }, { ...inputOf(after) }];
	const set = Object.entries(is).filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(was[key]));
	return { set: Object.fromEntries(set), unset: Object.keys(was).filter((key) => is[key] === undefined) };
}
