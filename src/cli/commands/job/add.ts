// sluice add: turns options into one job's input.

import { readFileSync, statSync } from "node:fs";
import type { AddDocument } from "../../../api/protocol/job.ts";
import { codeOf, messageOf } from "../../../core/errors.ts";
import type { JobInput } from "../../../core/job.ts";
import { keysMarked } from "../../../core/schema/job.ts";
import { exactJson, writeJson } from "../../../core/text/json-text.ts";
import { allowedNames, capture, chosen } from "../../caller/environment.ts";
import { pinOf } from "../../caller/pin.ts";
import type { Call } from "../../command.ts";
import { CliFailure, EXIT, failureOf, usage } from "../../failure.ts";
import { absolutePath, type Io, idOf, readAll } from "../../io.ts";
import { hasEnded, remark, type ShownJob, statusWords } from "../../printing/job-lines.ts";
import { withLockWords } from "../../printing/lock-words.ts";
import { printable } from "../../printing/sequences.ts";
import { durationOf, timeOf } from "../../times.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const input = await inputOf(call, io);
	const answered = await io.ask("job.add", call.flag("force") ? { ...input, force: true } : input);
	const result = withWarning(answered, folderWarning(call, input));
	const queued = result.outcome === "queued" && (call.flag("wait") || call.flag("follow")) ? result : undefined;
	const id = jobOf(result);
	if (io.json) {
		if (!queued) io.print.out(writeJson(result));
	} else if (id !== undefined) io.print.out(String(id));
	if (!io.json) await printAdded(result, io);
	const warning = result.outcome === "queued" ? result.warning : undefined;
	const warningShown = io.quiet ? withoutBackpressure(warning) : warning;
	if (warningShown !== undefined && warningShown !== "") io.print.warn(`${io.print.paintTalk("yellow", "warning:")} ${warningShown}`);
	if (!queued) return result.outcome === "deferred" ? EXIT.later : EXIT.done;
	return stay(call, io, queued.job.id, queued.jobs ?? [queued.job.id]);
}

/** Only a warning: the folder may be created meanwhile, or exist on the host that the job goes to. */
function folderWarning(call: Call, { cwd }: JobInput): string | undefined {
	if (!call.has("cwd") || call.has("repo") || call.has("recipe") || typeof cwd !== "string") return undefined;
	try {
		if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return undefined;
	} catch {
		// We may not look there; its run may be allowed to.
		return undefined;
	}
	return `there is no folder ${printable(cwd)} here: the job cannot start before there is one`;
}

const withWarning = (result: AddDocument, more: string | undefined): AddDocument =>
	more === undefined || result.outcome !== "queued"
		? result
		: { ...result, warning: result.warning === undefined ? more : `${result.warning}; ${more}` };

/** The note on backpressure is informational; what is wrong with the job is not. */
const withoutBackpressure = (warning: string | undefined): string | undefined =>
	warning?.replace(/^Queue delayed; respecting caps \([^)]*\)(?:; )?/, "");

const jobOf = (result: AddDocument): number | undefined =>
	result.outcome === "deferred" ? undefined : result.outcome === "queued" ? result.job.id : result.job;

/** `all`: all steps of a recipe. On Ctrl-C, prints that the job stays. */
async function stay(call: Call, io: Io, id: number, all: number[]): Promise<number> {
	let stop = () => {};
	const left = new Promise<number>((resolve) => {
		stop = io.world.onSignal?.(resolve) ?? stop;
	});
	const code = await Promise.race([staying(call, io, id, all).catch(refusedWait(all)), left]);
	stop();
	if (code === EXIT.interrupted || code === EXIT.terminated)
		io.print.say(
			`${all.length > 1 ? `jobs ${all.join(", ")} go on` : `job ${id} goes on`}; sluice cancel ${all.join(" ")} stops ${all.length > 1 ? "them" : "it"}`,
		);
	return code;
}

/** The wait was refused after the job had been added: a caller that only saw the refusal would add it again. */
const refusedWait = (all: readonly number[]) => (error: unknown) => {
	const { code, message, hint } = failureOf(error);
	if (code !== "conflict") throw error;
	const stays = all.length > 1 ? `jobs ${all.join(", ")} are added and stay in the queue` : `job ${all[0]} is added and stays in the queue`;
	throw new CliFailure(
		code,
		`${message}; ${stays}`,
		hint === undefined ? "do not add it again" : `do not add it again; next time: ${hint}`,
	);
};

/** Keys of the answer that come first. */
const HEAD: object = { schema_version: 1, outcome: "queued" };

async function staying(call: Call, io: Io, id: number, all: number[]): Promise<number> {
	if (call.flag("follow") && !io.json) {
		const { printLog, WHOLE } = await import("../../follow.ts");
		await printLog(io, { id, stream: "both", attempt: undefined, raw: false, from: WHOLE }, "follow");
	}
	const { waitFor } = await import("../../waiting.ts");
	const { done, jobs } = await waitFor(io, { ids: all }, undefined);
	if (io.json) io.print.out(writeJson({ ...HEAD, ...(await io.ask("job.show", { id })) }));
	return done && jobs.every((job) => job.status === "succeeded") ? EXIT.done : EXIT.failed;
}

async function printAdded(result: AddDocument, io: Io): Promise<void> {
	const { print, world } = io;
	const say = (text: string) => print.say(print.paintTalk("dim", text));
	switch (result.outcome) {
		case "duplicate":
			return say("not added: a job with this unique key is there already");
		case "already_running":
			return say(`not added: job ${result.holder ?? result.job} works on this item already`);
		case "deferred": {
			const { limit, hint }: Partial<typeof result> = result;
			print.warn(`${print.paintTalk("red", "sluice:")} not added: the queue is full${limit === undefined ? "" : ` (limit ${limit})`}`);
			return hint === undefined ? undefined : print.warn(print.paintTalk("dim", `        ${hint}`));
		}
		case "queued": {
			const [job = result.job] = await withLockWords(io, [result.job]);
			say(words(job, result.position, world.now()));
			const { status, needs, on_missing } = job;
			if (status === "blocked_by_dependency" && needs?.length && on_missing !== "wait")
				say("        --on-missing wait would wait for what it needs");
		}
	}
}

function words(job: ShownJob, position: number | null, now: number): string {
	const place =
		typeof position === "number" && !job.held ? `number ${position} of lane ${job.lane}` : remark(job, now) || `lane ${job.lane}`;
	const status = statusWords(job.status);
	const isPlain = job.status === "running" || job.status === "succeeded" || place === status || (hasEnded(job) && remark(job, now) === "");
	const said = isPlain ? status : `${status}: ${place}`;
	return `${job.name ? `${printable(job.name)} ` : ""}${said}`;
}

async function inputOf(call: Call, io: Io): Promise<JobInput> {
	const input: Fields = { ...(await workOf(call, io)), ...plainFields(call), ...whenOf(call, io) };
	const refs = call.list("after");
	if (refs.length > 0) input.after = refs.map((ref) => idOf(ref));
	if (call.has("unique")) input.unique = uniqueOf(call);
	if (call.list("uses").length > 0) input.uses = Object.fromEntries(call.list("uses").map(useOf));
	const vars = varsOf(call);
	if (vars !== undefined) input.vars = vars;
	const parent = parentOf(call, io);
	if (parent !== undefined) input.parent = parent;
	// Last, because they may start a daemon: an invalid command line must not start anything.
	const pin = call.text("pin");
	if (pin !== undefined) input.pinned_head = await pinOf(pin, call.text("repo"), io, absolutePath(io.world, call.text("cwd") ?? "."));
	if (input.env !== undefined) input.env = { ...capture(io.world.env, await allowedNames(io)), ...chosen(call.list("env"), io.world.env) };
	return input;
}

/** Fields of a job's input; the daemon checks them. */
type Fields = Record<string, unknown>;

/** The fields whose options are passed on as they are. */
export function plainFields(call: Call): Fields {
	const fields: Fields = {};
	for (const { name, field } of call.command.options ?? []) if (field !== undefined && call.has(name)) fields[field] = call.value(name);
	if ((call.number("retries") ?? 0) < 0) throw usage("--retries must not be negative");
	for (const option of ["timeout", "stall-timeout"]) {
		const span = call.text(option);
		if (span !== undefined) durationOf(span, option);
	}
	return fields;
}

export function whenOf(call: Call, { world }: Io): Fields {
	const fields: Fields = {};
	const [at, after, deadline] = [call.text("at"), call.text("in"), call.text("deadline")];
	if (at !== undefined) fields.runnable_at = timeOf(at, "at", world.now());
	if (after !== undefined) fields.runnable_at = new Date(world.now() + durationOf(after, "in")).toISOString();
	if (deadline !== undefined) fields.deadline = timeOf(deadline, "deadline", world.now());
	return fields;
}

/** What the job runs: a command, an agent, or only a payload. */
async function workOf(call: Call, io: Io): Promise<Fields> {
	const command = call.rest;
	const agent = call.text("agent");
	const [words] = call.args("PROMPT");
	const file = call.text("prompt-file");
	if (command?.length === 0) throw usage("nothing stands after --", "for example: sluice add -- make test");
	if (command && agent !== undefined)
		throw usage("a job has a command or an agent, not both", "leave out --agent, or what stands after --");
	if (words !== undefined && file !== undefined) throw usage("PROMPT and --prompt-file contradict each other", "give one of them");
	const recipe = call.text("recipe");
	if (command && recipe !== undefined) throw usage("a recipe says what is run", "leave out --recipe, or what stands after --");
	if (agent === undefined && recipe === undefined) {
		if (words !== undefined || file !== undefined)
			throw command
				? usage("a command takes no prompt", "leave the prompt out, or what stands after --")
				: usage(
						"is this a prompt or a command?",
						file === undefined
							? `to run an agent: sluice add --agent claude ${quoted(words ?? "")}; to run a command: sluice add -- ${words === "-" ? "make test" : words}`
							: "name the agent that gets the prompt, for example --agent claude",
					);
		for (const { name, field } of call.command.options ?? [])
			if (field !== undefined && FOR_AGENTS.includes(field) && call.has(name))
				throw usage(`--${name} is for agents`, "name one with --agent");
	}
	const work: Fields = {};
	const payload = call.text("payload");
	if (payload !== undefined) work.payload = payloadOf(payload, io);
	if (command) work.command = command;
	else if (agent !== undefined || recipe !== undefined) {
		const prompt = await promptOf(words, file, io);
		if (prompt !== undefined) work.prompt = prompt;
		else if (!call.has("recipe") && !call.has("args") && !call.has("payload"))
			throw usage("an agent needs a prompt", 'for example: sluice add --agent claude "Fix the flaky test"');
	} else if (!call.has("payload"))
		throw usage("nothing to run", 'for example: sluice add -- make test, or sluice add --agent claude "Fix the flaky test"');
	const mine = chosen(call.list("env"), io.world.env);
	if (command || agent !== undefined || recipe !== undefined) {
		work.cwd = absolutePath(io.world, call.text("cwd") ?? ".");
		work.env = mine;
	} else if (call.has("cwd") || call.has("env")) throw usage("a payload is for an outside worker: it takes no --cwd and no --env");
	return work;
}

const FOR_AGENTS: readonly string[] = [...keysMarked("agent"), "args"];

/** In double quotes, as people type a prompt. */
const quoted = (words: string) => `"${words.replace(/[\\"$`]/g, "\\$&")}"`;

export async function promptOf(words: string | undefined, file: string | undefined, io: Io): Promise<string | undefined> {
	const source = file ?? (words === "-" ? "-" : undefined);
	if (source === undefined) return words;
	const text = source === "-" ? await readAll(io.world.stdin) : readText(absolutePath(io.world, source), "prompt-file");
	if (text.trim() === "") throw usage("the prompt is empty");
	return text;
}

export function payloadOf(text: string, { world }: Io): unknown {
	const json = text.startsWith("@") ? readText(absolutePath(world, text.slice(1)), "payload") : text;
	try {
		return exactJson(json);
	} catch (error) {
		throw usage(`--payload is not JSON: ${messageOf(error)}`, `quote it for the shell, for example --payload '{"a": 1}', or write @FILE`);
	}
}

function readText(path: string, option: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		const said: Record<string, string> = {
			ENOENT: `there is no file ${path}`,
			EISDIR: `${path} is a folder`,
			EACCES: `you may not read ${path}`,
		};
		throw usage(`--${option}: ${said[String(codeOf(error))] ?? messageOf(error)}`);
	}
}

export function uniqueOf(call: Call): Fields {
	const [, key, policy] = /^(.+?)(?::(skip|replace|error))?$/s.exec(call.text("unique") ?? "") ?? [];
	if (key === undefined) throw usage("--unique is empty");
	const window = call.text("unique-for");
	return { key, ...(policy ? { policy } : {}), ...(window === undefined ? {} : { window_ms: durationOf(window, "unique-for") }) };
}

export function useOf(one: string): [string, number] {
	const [, resource, units] = /^(.+):(\d{1,9})$/.exec(one) ?? [];
	if (resource === undefined) throw usage(`--uses: ${JSON.stringify(one)} is not RESOURCE:N`, "for example --uses build:1");
	return [resource, Number(units)];
}

/** The variables of `--var KEY=VALUE`; undefined if there are none. */
export function varsOf(call: Call): Record<string, string> | undefined {
	const pairs = call.list("var").map((one) => {
		const equals = one.indexOf("=");
		if (equals < 1) throw usage(`--var: ${JSON.stringify(one)} is not KEY=VALUE`);
		return [one.slice(0, equals), one.slice(equals + 1)];
	});
	return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}

/** Inside a run, an added job belongs to the run's job. */
function parentOf(call: Call, { world, home }: Io): number | string | undefined {
	const given = call.text("parent");
	if (given === "none") return undefined;
	return given === undefined ? world.insideOf(home) : idOf(given);
}
