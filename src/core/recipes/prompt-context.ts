// What a prompt says about earlier attempts. Pure.
//
//   {{prior}}          all of it, in words; empty in a first attempt
//   {{attempt}}        the number of this attempt
//   {{prior_branch}}   the branch of the last attempt
//   {{last_error}}     what the last attempt ended with
//   {{log_tail}}       the end of its output
//   {{question}}       what it asked a person last
//   {{answer}}         what the person answered
//   {{after.NAME.result}}   the result of a predecessor job: after-result.ts. These also work in a prompt that no recipe made.
//   {{testing}}        how to test the work: the repo's verify command, if the agent may run it
//
// A recipe's prompt may place these where it wants; they are filled in at each start. A prompt without any of them gets {{prior}} at its end; a prompt
// without {{prior}} and {{answer}} gets the answer there, if there is one.

import type { ExitKind } from "../job.ts";
import { isOneOf } from "../text/one-of.ts";
import { withoutEnd } from "../text/text-end.ts";
import { AFTER_PLACE, createFilling, createRoom, fillPlaces, type ResultSource } from "./after-result.ts";

export const RUN_TIME = ["prior", "attempt", "prior_branch", "last_error", "log_tail", "question", "answer", "testing"] as const;
export type RunTime = (typeof RUN_TIME)[number];

export type EarlierAttempt = {
	attempt: number;
	exit_kind: ExitKind;
	message: string | null;
	/** The end of the output, as people read it. */
	tail: string;
};
export type PromptContext = {
	/** The number of the attempt that is about to start. */
	attempt: number;
	past: EarlierAttempt | null;
	branch: string | null;
	asked: string | null;
	answer: string | null;
	/** Why the agent's session is not resumed; null if there was none. */
	left: string | null;
	/** The results that the prompt uses. */
	results?: readonly ResultSource[];
	/** The repo's verify command, if the agent may run it. */
	verify: string | null;
};

const NAMES = [...RUN_TIME, AFTER_PLACE].join("|");
const PLACE = new RegExp(`\\\\?\\{\\{\\s*(${NAMES})\\s*\\}\\}`, "g");

/** Escapes text from outside for a prompt that is filled in later: placeholders in it are not filled in. */
export const asText = (text: string): string => text.replace(PLACE, (place) => `\\${place}`);

const PLACE_HERE = new RegExp(PLACE.source, "y");

/** Whether a placeholder that is filled in at a start begins at this character. */
export function isPlaceAt(text: string, at: number): boolean {
	PLACE_HERE.lastIndex = at;
	return PLACE_HERE.test(text);
}

export const isRunTime = (name: string): name is RunTime => isOneOf(name, RUN_TIME);
export const isAfterPlace = (name: string): boolean => name.startsWith("after.");

/** `template`: made by a recipe, so its placeholders are filled in. */
export function promptFor(prompt: string, kind: "template" | "text", context: PromptContext): string {
	const words = priorWords(context);
	const results = context.results ?? [];
	if (kind === "text") return joined(fillPlaces(prompt, results), words);
	const values: Record<RunTime, string> = {
		prior: words,
		attempt: String(context.attempt),
		prior_branch: context.past === null ? "" : (context.branch ?? ""),
		last_error: context.past?.message ?? "",
		log_tail: context.past?.tail ?? "",
		question: context.asked ?? "",
		answer: context.answer ?? "",
		testing: testingWords(context.verify),
	};
	const placed = new Set<RunTime>();
	const [filling, room] = [createFilling(results), createRoom(prompt)];
	// All placeholders in one pass, so that inserted text is not scanned again.
	const filled = prompt.replace(PLACE, (place, name: RunTime) => {
		if (place.startsWith("\\")) return place.slice(1);
		if (isAfterPlace(name)) {
			const words = filling(name);
			return words === null ? place : room(words);
		}
		// {{testing}} says nothing about earlier attempts.
		if (name !== "testing") placed.add(name);
		return room(values[name]);
	});
	if (placed.size === 0) return joined(filled, words);
	const made = filled.replace(/\n{3,}/g, "\n\n").trim();
	// A person answered: the answer must not get lost.
	return placed.has("prior") || placed.has("answer") ? made : joined(made, answerWords(context));
}

const testingWords = (verify: string | null): string =>
	verify === null
		? "Run the tests that you may run without asking."
		: `Run \`${verify}\`, which you may, and mend what it finds: it is run again before the merge.`;

const joined = (prompt: string, words: string): string => (words === "" ? prompt : `${prompt}\n\n${words}`);

const ENDS: Record<ExitKind, string> = {
	completed: "ended well",
	failed: "failed",
	crashed: "crashed",
	cancelled: "was cancelled",
	timeout: "ran out of time",
	stalled: "was stopped since nothing came from it any more",
	rate_limited: "was stopped by a limit of its account",
	needs_human: "asked for a person",
	lost: "was cut off",
	preempted: "was stopped to make room",
	drained: "was stopped for maintenance",
	launch_failed: "could not be started",
};
/** Exit kinds that say something about the work; all others only interrupted it. */
const TELLING_ENDS: readonly ExitKind[] = ["failed", "crashed", "timeout", "stalled"];

function answerWords({ asked, answer }: PromptContext): string {
	if (answer === null) return "";
	return asked === null ? `A person was asked, and answered:\n${answer}` : `It asked a person:\n${asked}\nThe answer:\n${answer}`;
}

function priorWords(context: PromptContext): string {
	const { attempt, past, branch, left } = context;
	if (past === null) return answerWords(context);
	const counts = TELLING_ENDS.includes(past.exit_kind);
	const lines = [
		`This is attempt ${attempt} at this task. Attempt ${past.attempt} ${ENDS[past.exit_kind]}${counts && past.message ? `: ${withoutEnd(past.message, ".")}` : ""}.`,
	];
	if (branch !== null) lines.push(`What it did is on branch ${branch}, in this folder.`);
	if (left !== null) lines.push(`You do not have its memory (${left}).`);
	if (branch !== null || left !== null) lines.push("See what is there already before you begin.");
	const parts = [lines.join(" ")];
	const answered = answerWords(context);
	if (answered !== "") parts.push(answered);
	if (counts && past.tail !== "") parts.push(`The end of what it wrote:\n${past.tail.replace(/^/gm, "    ")}`);
	return parts.join("\n\n");
}

const TAIL_LINES = 20;
const TAIL_CHARS = 2_000;

/** The last lines of a log, limited in number and length. */
export function lastLines(text: string): string {
	const lines = text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
	return lines.length <= TAIL_CHARS ? lines : `…${lines.slice(-TAIL_CHARS).replace(/^[\udc00-\udfff]/, "")}`;
}
