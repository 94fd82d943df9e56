// verdict, result: a run reports about itself.

import { readFileSync } from "node:fs";
import type { Params, Result } from "../../api/protocol.ts";
import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import { MAX_VERDICT_TEXT, readResult, type VerdictWord, verdictText } from "../../core/runs/verdict.ts";
import type { Call } from "../command.ts";
import { CliFailure, usage } from "../failure.ts";
import { absolutePath, answer, type Io, readAll } from "../io.ts";
import { leaveWords, takeBackWords } from "../leave-words.ts";
import { PATIENCE } from "../patience.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const name = call.command.name === "verdict" ? "verdict" : "result";
	const said = name === "verdict" ? await verdictOf(call, io) : { result: await resultOf(call, io) };
	if (io.world.insideOf(io.home) === undefined) throw outside(name);
	const document = await sayOrLeave(io, said);
	answer(io, document, () => io.print.say("left" in document ? LEFT : wordsFor(document)));
}

type Said = Params<"run.verdict"> | Params<"run.result">;
type Heard = Result<"run.verdict"> | Result<"run.result">;

const LEFT = "the daemon of this run does not answer: what you said is kept in the run's folder, and counts when this run ends";

/** The command never reached the daemon, or lost the connection: the daemon may not have received the report. */
const AWAY: readonly unknown[] = ["no_daemon", "daemon_gone", "closed"];

/** If the daemon stays away, the report is left in the run's folder, where the daemon finds it when it is back. */
async function sayOrLeave(io: Io, said: Said): Promise<Heard | (Said & { job: number | undefined; left: true })> {
	let document: Heard;
	try {
		document = await insist<Heard>(io, () => ("verdict" in said ? io.ask("run.verdict", said) : io.ask("run.result", said)));
	} catch (error) {
		if (!AWAY.includes(codeOf(error))) throw error;
		try {
			leaveWords(io, said);
		} catch (refusal) {
			// If the folder is not writable, the unreachable daemon is the cause to report. If no daemon would accept the report, that is the caller's mistake.
			throw refusal instanceof SluiceError ? refusal : error;
		}
		return { job: io.world.insideOf(io.home), ...said, left: true };
	}
	takeBackWords(io, "verdict" in said ? "verdict" : "result");
	return document;
}

const outside = (name: string): CliFailure =>
	usage(
		`sluice ${name} works only inside a run: it is how a run speaks of itself, and this shell is in none`,
		name === "verdict"
			? "from outside: sluice answer ID TEXT answers a question, sluice cancel ID ends a job, sluice show ID tells what a run said"
			: "from outside: sluice show ID --json has the result that a run reported",
	);

function wordsFor(heard: Heard): string {
	const { job } = heard;
	if ("bytes" in heard) return `job ${job} has its result (${heard.bytes} bytes)`;
	if (heard.verdict === "fail") return `job ${job} will end as failed`;
	return heard.verdict === "ask" ? `job ${job} will ask a person when this run has ended` : `job ${job}: noted as ok`;
}

async function verdictOf(call: Call, io: Io): Promise<Params<"run.verdict">> {
	const words = call.args("TEXT").join(" ");
	const given = (words === "-" ? await readAll(io.world.stdin) : words).trim();
	const text = verdictText(given);
	if (given.length > MAX_VERDICT_TEXT)
		io.print.warn(`sluice: the text is ${given.length} characters long: it is cut after ${MAX_VERDICT_TEXT}`);
	// Any word is sent: the daemon refuses an unknown one, and names those that it knows.
	return { verdict: call.arg("VERDICT") as VerdictWord, ...(text === "" ? {} : { text }) };
}

async function resultOf(call: Call, io: Io): Promise<unknown> {
	const [given] = call.args("JSON");
	const file = call.text("file");
	if (given !== undefined && file !== undefined) throw usage("JSON and --file contradict each other", "give one of them");
	if (given === undefined && file === undefined)
		throw usage("the result is missing", `give JSON, for example '{"risk": "low"}', or --file FILE`);
	const typed = given === "-" ? await readAll(io.world.stdin) : given;
	const text = typed ?? fileOf(absolutePath(io.world, file ?? ""));
	const value = parsed(text);
	// Checked here as well: a value that is nested too deeply cannot even be sent.
	readResult(value);
	return value;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw usage(`the result is not JSON: ${messageOf(error)}`, `a text needs quotes of its own: '"a text"'; an object: '{"risk": "low"}'`);
	}
}

function fileOf(path: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		throw usage(codeOf(error) === "ENOENT" ? `there is no file ${path}` : `${path} cannot be read: ${messageOf(error)}`);
	}
}

/** The daemon may be restarting: retry, so that the run's report is not lost. */
async function insist<T>(io: Io, ask: () => Promise<T>): Promise<T> {
	for (let tries = 1; ; tries++) {
		try {
			return await ask();
		} catch (error) {
			const code = codeOf(error);
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
