// sluice edit: changes a waiting job, by options or in the caller's editor.

import type { Result } from "../../../api/protocol.ts";
import type { JobInput } from "../../../core/job.ts";
import { INPUT_KEYS, JOB, type JobKey } from "../../../core/schema/job.ts";
import { writeJson } from "../../../core/text/json-text.ts";
import { isOneOf } from "../../../core/text/one-of.ts";
import { editorOf, editText } from "../../caller/editor.ts";
import { chosen } from "../../caller/environment.ts";
import { pinOf } from "../../caller/pin.ts";
import type { Call } from "../../command.ts";
import { CliFailure, failureOf, usage } from "../../failure.ts";
import { absolutePath, answer, type Io, idOf } from "../../io.ts";
import { readFields } from "../../manifest.ts";
import { labelOf } from "../../printing/job-lines.ts";
import { printable } from "../../printing/sequences.ts";
import { payloadOf, plainFields, promptOf, uniqueOf, useOf, whenOf } from "./add.ts";

type Edited = Result<"job.edit">;
type Change = { set: JobInput; unset: string[] };

export async function run(call: Call, io: Io): Promise<undefined> {
	const id = idOf(call.arg("ID"));
	const change = await changeOf(call, io, id);
	const edited = change ? await io.ask("job.edit", { id, ...change }) : await inEditor(io, id);
	answer(io, edited, () => {
		const { job, changed, warning } = edited;
		io.print.say(changed.length === 0 ? `nothing changed in ${labelOf(job)}` : `${labelOf(job)} changed: ${changed.join(", ")}`);
		if (warning !== undefined) io.print.warn(`${io.print.paintTalk("yellow", "warning:")} ${printable(warning)}`);
	});
}

/** What the options say; undefined if there are none. */
async function changeOf(call: Call, io: Io, id: number | string): Promise<Change | undefined> {
	const set: Record<string, unknown> = { ...plainFields(call), ...whenOf(call, io) };
	const [words] = call.args("PROMPT");
	const prompt = await promptOf(words, call.text("prompt-file"), io);
	if (prompt !== undefined) set.prompt = prompt;
	if (call.rest?.length === 0) throw usage("nothing stands after --", "for example: sluice edit 7 -- make test");
	if (call.rest) set.command = call.rest;
	const payload = call.text("payload");
	if (payload !== undefined) set.payload = payloadOf(payload, io);
	if (call.has("after")) set.after = call.list("after").map((ref) => idOf(ref));
	if (call.has("unique")) set.unique = uniqueOf(call);
	if (call.has("uses")) set.uses = Object.fromEntries(call.list("uses").map(useOf));
	if (call.has("cwd")) set.cwd = absolutePath(io.world, call.text("cwd") ?? ".");
	const unset = call.list("unset").map((name) => fieldNamed(call, name));
	const [pin, env] = [call.text("pin"), call.list("env")];
	if (Object.keys(set).length + unset.length + env.length === 0 && pin === undefined) return undefined;
	// Both add to what the job has now.
	const { fields }: Partial<Edited> = pin !== undefined || env.length > 0 ? await io.ask("job.edit", { id }) : {};
	if (env.length > 0) set.env = { ...fields?.env, ...chosen(env, io.world.env) };
	if (pin !== undefined)
		set.pinned_head = await pinOf(pin, call.text("repo") ?? fields?.repo, io, fields?.cwd ?? absolutePath(io.world, "."));
	return { set, unset };
}

/** Options that set another field than their name says. */
const FIELD_OF: Readonly<Record<string, JobKey>> = {
	at: "runnable_at",
	in: "runnable_at",
	pin: "pinned_head",
	"prompt-file": "prompt",
	"unique-for": "unique",
};

/** The field that a person names, by its own name or by that of its option: `needs-approval` is `requires_approval`. */
function fieldNamed(call: Call, name: string): string {
	const { field } = call.command.options?.find((option) => option.name === name) ?? {};
	return field ?? FIELD_OF[name] ?? name.replaceAll("-", "_");
}

/** Fields that edit refuses to change: they are not in the file. */
const STAY: readonly string[] = ["item", "source", "parent", "trigger", "recipe", "vars"];

async function inEditor(io: Io, id: number | string): Promise<Edited> {
	if (io.json || editorOf(io.world) === undefined)
		throw usage(
			"nothing to change",
			"name the fields, for example: sluice edit 7 --lane slow --priority 5; or set EDITOR and leave --json out",
		);
	const before = await io.ask("job.edit", { id });
	const { stringify } = await import("yaml");
	const text = fileOf(before, stringify);
	const shown = await readFields(text, "the file");
	let [last, complaint] = [text, ""];
	for (;;) {
		const saved = withoutComplaint(await editText(io.world, `job-${before.job.id}.yml`, complaint + last));
		if (saved.trim() === "" || saved === text) return { ...before, changed: [] };
		try {
			if (saved === last && complaint !== "") throw new CliFailure("failed", "the mistake is still there: nothing was changed");
			const change = differences(shown, await readFields(saved, "the file"));
			if (Object.keys(change.set).length + change.unset.length === 0) return { ...before, changed: [] };
			return await io.ask("job.edit", { id, ...change });
		} catch (error) {
			if (!io.world.stdin.isTTY || (saved === last && complaint !== "")) throw error;
			const { message, hint } = failureOf(error);
			complaint = [message, hint ?? ""]
				.filter(Boolean)
				.map((line) => `${MARK}${printable(line)}\n`)
				.join("");
			last = saved;
		}
	}
}

/** Lines that say what was wrong; they are not part of what the person wrote. */
const MARK = "#! ";
const withoutComplaint = (text: string): string =>
	text
		.split("\n")
		.filter((line) => !line.startsWith(MARK))
		.join("\n");

function fileOf({ job, fields }: Edited, stringify: (value: unknown) => string): string {
	const lines = [
		`# ${labelOf(job)}. Save and close the file to change the job; an unchanged or empty file changes nothing.`,
		`# A field that you take out gets its default. These stay as they are: ${STAY.join(", ")}.`,
	];
	const shown = INPUT_KEYS.filter((key) => !STAY.includes(key));
	const has = (key: JobKey) => fields[key] !== undefined;
	for (const key of shown.filter(has)) lines.push("", `# ${JOB[key].about}`, stringify({ [key]: spanOf(key, fields[key]) }).trimEnd());
	lines.push("", "# Other fields:");
	for (const key of shown.filter((one) => !has(one))) lines.push(`#   ${`${key}:`.padEnd(18)} ${JOB[key].about}`);
	return `${lines.join("\n")}\n`;
}

const UNITS = [
	[3_600_000, "h"],
	[60_000, "m"],
	[1000, "s"],
] as const;

/** A duration as people write it: 90000 is 1m30s. */
function spanOf(key: JobKey, value: unknown): unknown {
	if ((key !== "timeout" && key !== "stall_timeout") || typeof value !== "number" || value === 0 || value % 1000 !== 0) return value;
	let left = value;
	return UNITS.map(([ms, unit]) => {
		const count = Math.floor(left / ms);
		left -= count * ms;
		return count === 0 ? "" : `${count}${unit}`;
	}).join("");
}

/** What a person changed in the file. A field that is not a job's is sent as it is: the daemon says what was meant. */
function differences(before: Record<string, unknown>, now: Record<string, unknown>): Change {
	const isSame = (one: unknown, other: unknown) => writeJson(one) === writeJson(other);
	const set = Object.entries(now).filter(([key, value]) => !Object.hasOwn(before, key) || !isSame(before[key], value));
	return { set: Object.fromEntries(set), unset: Object.keys(before).filter((key) => isOneOf(key, INPUT_KEYS) && !Object.hasOwn(now, key)) };
}
