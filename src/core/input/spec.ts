// The part of a job's input that only its host reads: what to run, where, and with what.

import { EXPECTS } from "../agents/closing.ts";
import { readAllow } from "../agents/permissions/allowing.ts";
import { SluiceError } from "../errors.ts";
import { branchFault } from "../fact.ts";
import type { JobInput, JobSpec } from "../job.ts";
import * as check from "./check.ts";
import { readPayload } from "./payload.ts";

export function specOf(input: JobInput, now: number, at: (key: string) => string): JobSpec {
	const spec: JobSpec = { version: 1, enqueued_at: now };
	if (input.title !== undefined) spec.title = check.text(input.title, at("title"), { max: 10_000, lines: "one" });
	if (input.command !== undefined) spec.command = argv(input.command, at("command"));
	if (input.prompt !== undefined) spec.prompt = check.text(input.prompt, at("prompt"));
	if (input.payload !== undefined) Object.assign(spec, readPayload(input.payload, at("payload")));
	if (input.base_branch !== undefined) spec.base_branch = branch(input.base_branch, at("base_branch"));
	if (input.worktree !== undefined) spec.worktree = branch(input.worktree, at("worktree"));
	if (input.merge !== undefined) spec.merge = check.oneOf(input.merge, ["direct", "mr", "local"], at("merge"));
	if (input.no_merge !== undefined) spec.no_merge = check.flag(input.no_merge, at("no_merge"));
	if (input.input_patch !== undefined) spec.input_patch = check.text(input.input_patch, at("input_patch"));
	if (input.cwd !== undefined) spec.cwd = check.text(input.cwd, at("cwd"), { max: 4096, lines: "one" });
	if (input.env !== undefined) spec.env = words(input.env, at("env"), /^[A-Za-z_][A-Za-z0-9_]*$/);
	if (input.model !== undefined) spec.model = check.word(input.model, at("model"));
	if (input.permission !== undefined) spec.permission = check.oneOf(input.permission, ["ask", "edit", "full"], at("permission"));
	if (input.may_add !== undefined) spec.may_add = check.oneOf(input.may_add, ["ask", "edit", "full"], at("may_add"));
	if (input.allow !== undefined) spec.allow = readAllow(input.allow, at("allow"));
	if (input.expect !== undefined) spec.expect = check.oneOf(input.expect, EXPECTS, at("expect"));
	if (input.commit !== undefined) spec.commit = check.oneOf(input.commit, ["auto", "agent", "never"], at("commit"));
	if (input.args !== undefined) spec.args = check.text(input.args, at("args"));
	if (input.vars !== undefined) spec.vars = words(input.vars, at("vars"), /^[A-Za-z_][\w.-]*$/);
	if (input.recipe !== undefined) spec.recipe = check.label(input.recipe, at("recipe"));
	if (input.mode !== undefined) spec.mode = check.oneOf(input.mode, ["ralph"], at("mode"));
	if (input.owned !== undefined) spec.owned = check.flag(input.owned, at("owned"));
	if (input.raw !== undefined) spec.raw = check.flag(input.raw, at("raw"));
	if (input.timeout !== undefined) spec.timeout_ms = check.duration(input.timeout, at("timeout"));
	if (input.stall_timeout !== undefined) spec.stall_timeout_ms = check.duration(input.stall_timeout, at("stall_timeout"));
	return spec;
}

export function branch(value: unknown, field: string): string {
	const name = check.text(value, field, { max: check.MAX_NAME, lines: "one" });
	const fault = name === "" ? "is empty" : branchFault(name);
	if (fault !== undefined) throw check.wrong(field, fault);
	return name;
}

export function argv(value: unknown, field: string): string[] {
	if (typeof value === "string") {
		const isShort = value.length <= 60;
		const words = isShort ? value.trim().split(/\s+/).join(", ") : "program, word, word";
		throw check.wrong(
			field,
			`must be a list, not ${check.shown(value)}`,
			`write [${words}], or [sh, -c, ${isShort ? JSON.stringify(value) : '"…"'}] for a shell line`,
		);
	}
	const all = check.list(value, field, 10_000).map((one, index) => check.text(one, `${field}[${index}]`, { max: 131_072 }));
	if (all.length === 0 || all[0] === "") throw check.wrong(field, "must name a program");
	return all;
}

function words(value: unknown, field: string, name: RegExp): Record<string, string> {
	const entries = Object.entries(check.record(value, field));
	if (entries.length > 1000) throw new SluiceError("limit", `${field}: ${entries.length} entries, at most 1000`, { field });
	return Object.fromEntries(
		entries.map(([key, one]) => {
			if (!name.test(key) || key.length > check.MAX_NAME || key === "__proto__")
				throw check.wrong(`${field}.${key.slice(0, 40)}`, "is not a name that can be used here");
			return [key, check.text(one, `${field}.${key}`, { max: 131_072 })];
		}),
	);
}
