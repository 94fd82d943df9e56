// verdict, result: a run reports about itself.

import { readFileSync } from "node:fs";
import { SluiceError } from "../../core/errors.ts";
import { MAX_VERDICT_TEXT, readResult, verdictText } from "../../core/runs/verdict.ts";
import type { Call } from "../command.ts";
import { CliFailure, usage } from "../failure.ts";
import { type AnswerDocument, absolutePath, answer, type Io, readAll } from "../io.ts";
import { leaveWords, takeBackWords } from "../leave-words.ts";
import { PATIENCE } from "../program.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const { name } = call.command;
	const params = name === "verdict" ? await verdictOf(call, io) : { result: await resultOf(call, io) };
	if (io.world.insideOf(io.home) === undefined) throw outside(name);
	const document = await sayOrLeave(io, name === "verdict" ? name : "result", params);
	answer(io, document, () => io.print.say(document.left === true ? LEFT : wordsFor(name, document)));
	return undefined;
}

const LEFT = "the daemon of this run does not answer: what you said is kept in the run's folder, and counts when this run ends";

/** The command never reached the daemon, or lost the connection: the daemon may not have received the report. */
const AWAY: readonly unknown[] = ["no_daemon", "daemon_gone", "closed"];

/** If the daemon stays away, the report is left in the run's folder, where the daemon finds it when it is back. */
async function sayOrLeave(io: Io, name: "verdict" | "result", params: AnswerDocument): Promise<AnswerDocument> {
	let document: AnswerDocument;
	try {
		document = await insist(io, `run.${name}`, params);
	} catch (error) {
		if (!AWAY.includes((error as { code?: unknown }).code)) throw error;
		try {
			leaveWords(io, params);
		} catch (refusal) {
			// If the folder is not writable, the unreachable daemon is the cause to report. If no daemon would accept the report, that is the caller's mistake.
			throw refusal instanceof SluiceError ? refusal : error;
		}
		return { job: io.world.insideOf(io.home), ...params, left: true };
	}
	takeBackWords(io, name);
	return document;
}

const outside = (name: string): CliFailure =>
	usage(
		`sluice ${name} works only inside a run: it is how a run speaks of itself, and this shell is in none`,
		name === "verdict"
			? "from outside: sluice answer ID TEXT answers a question, sluice cancel ID ends a job, sluice show ID tells what a run said"
			: "from outside: sluice show ID --json has the result that a run reported",
	);

function wordsFor(name: string, { job, verdict, bytes }: AnswerDocument): string {
	if (name === "result") return `job ${job} has its result (${bytes} bytes)`;
	if (verdict === "fail") return `job ${job} will end as failed`;
	return verdict === "ask" ? `job ${job} will ask a person when this run has ended` : `job ${job}: noted as ok`;
}

async function verdictOf(call: Call, io: Io): Promise<AnswerDocument> {
	const verdict = call.arg("VERDICT");
	const words = call.args("TEXT").join(" ");
	const given = (words === "-" ? await readAll(io.world.stdin) : words).trim();
	const text = verdictText(given);
	if (given.length > MAX_VERDICT_TEXT)
		io.print.warn(`sluice: the text is ${given.length} characters long: it is cut after ${MAX_VERDICT_TEXT}`);
	return { verdict, ...(text === "" ? {} : { text }) };
}

async function resultOf(call: Call, io: Io): Promise<unknown> {
	const [given] = call.args("JSON");
	const file = call.text("file");
	if (given !== undefined && file !== undefined) throw usage("JSON and --file contradict each other", "give one of them");
	if (given === undefined && file === undefined)
		throw usage("the result is missing", `give JSON, for example '{"risk": "low"}', or --file FILE`);
	const text =
		file === undefined ? (given === "-" ? await readAll(io.world.stdin) : (given as string)) : fileOf(absolutePath(io.world, file));
	const value = parsed(text);
	// Checked here as well: a value that is nested too deeply cannot even be sent.
	readResult(value);
	return value;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw usage(
			`the result is not JSON: ${(error as Error).message}`,
			`a text needs quotes of its own: '"a text"'; an object: '{"risk": "low"}'`,
		);
	}
}

function fileOf(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		const { code } = error as { code?: string };
		throw usage(code === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${(error as Error).message}`);
	}
}

/** The daemon may be restarting: retry, so that the run's report is not lost. */
async function insist(io: Io, method: string, params: AnswerDocument): Promise<AnswerDocument> {
	for (let tries = 1; ; tries++) {
		try {
			return await io.ask(method, params);
		} catch (error) {
			const { code } = error as { code?: unknown };
			if (code === "unauthorised") throw overtaken(io);
			if (code !== "no_daemon" || tries >= PATIENCE.tries) throw error;
			await new Promise<void>((resolve) => void io.world.after(PATIENCE.everyMs, resolve));
		}
	}
}

const overtaken = ({ world: { env } }: Io): CliFailure =>
	new CliFailure(
		"fenced",
		`run ${env.SLUICE_RUN_ID ?? "(unknown)"} is over: what it says now does not count`,
		`sluice show ${env.SLUICE_JOB_ID ?? "ID"} tells how it ended; a newer attempt speaks for itself`,
	);
