// What an attempt is told of the ones before it, in its prompt. Pure.
//
//   {{prior}}          all of it, in words; empty in a first attempt
//   {{attempt}}        which attempt this is
//   {{prior_branch}}   where the last one worked
//   {{last_error}}     what it ended with
//   {{log_tail}}       the end of what it wrote
//   {{question}}       what it asked a person last
//   {{answer}}         what the person said
//   {{after.NAME.result}}   the result of a job before this one: after-result.ts. These also count in a prompt that no recipe made.
//   {{testing}}        how to test what was done: the repo's verify command, where it may be run
//
// A recipe's prompt may have these where it wants them; they are filled in at each start. A prompt that has none of them gets {{prior}} at its end; one
// without {{prior}} and {{answer}} gets the answer there, if there is one.

import { AFTER_PLACE, fillPlaces, type Source, wordsOf } from "./after-result.ts";
import type { ExitKind } from "./job.ts";

export const RUN_TIME = ["prior", "attempt", "prior_branch", "last_error", "log_tail", "question", "answer", "testing"] as const;
export type RunTime = (typeof RUN_TIME)[number];

export type Past = {
	attempt: number;
	exit_kind: ExitKind;
	message: string | null;
	/** The end of what it wrote, as people read it. */
	tail: string;
};
export type Telling = {
	/** Which attempt is about to start. */
	attempt: number;
	past: Past | null;
	branch: string | null;
	asked: string | null;
	answer: string | null;
	/** Why the agent's session is not gone on with; null when there was none. */
	left: string | null;
	/** The results that the prompt asks for. */
	results?: readonly Source[];
	/** The repo's verify command, where the agent may run it. */
	verify: string | null;
};

const NAMES = [...RUN_TIME, AFTER_PLACE].join("|");
const PLACE = new RegExp(`\\\\?\\{\\{\\s*(${NAMES})\\s*\\}\\}`, "g");

/** Text that somebody brought, as a part of a prompt that is filled in later: it is not looked at again. */
export const asText = (text: string): string => text.replace(PLACE, (place) => `\\${place}`);

export const isRunTime = (name: string): name is RunTime => (RUN_TIME as readonly string[]).includes(name);
export const isAfterPlace = (name: string): boolean => name.startsWith("after.");

/** `template`: made by a recipe, so that places in it are meant. */
export function promptFor(prompt: string, kind: "template" | "text", telling: Telling): string {
	const words = priorWords(telling);
	const results = telling.results ?? [];
	if (kind === "text") return joined(fillPlaces(prompt, results), words);
	const values: Record<RunTime, string> = {
		prior: words,
		attempt: String(telling.attempt),
		prior_branch: telling.past === null ? "" : (telling.branch ?? ""),
		last_error: telling.past?.message ?? "",
		log_tail: telling.past?.tail ?? "",
		question: telling.asked ?? "",
		answer: telling.answer ?? "",
		testing: testingWords(telling.verify),
	};
	const placed = new Set<RunTime>();
	// All of them in one pass: what is put in is not looked at again.
	const filled = prompt.replace(PLACE, (place, name: RunTime) => {
		if (place.startsWith("\\")) return place.slice(1);
		if (isAfterPlace(name)) return wordsOf(name, results) ?? place;
		// It tells nothing of the attempts before.
		if (name !== "testing") placed.add(name);
		return values[name];
	});
	if (placed.size === 0) return joined(filled, words);
	const made = filled.replace(/\n{3,}/g, "\n\n").trim();
	// Somebody took the trouble to answer: that is not left out.
	return placed.has("prior") || placed.has("answer") ? made : joined(made, answerWords(telling));
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
/** Ends that say something about the work; the others only interrupted it. */
const TELLING_ENDS: readonly ExitKind[] = ["failed", "crashed", "timeout", "stalled"];

function answerWords({ asked, answer }: Telling): string {
	if (answer === null) return "";
	return asked === null ? `A person was asked, and answered:\n${answer}` : `It asked a person:\n${asked}\nThe answer:\n${answer}`;
}

function priorWords(telling: Telling): string {
	const { attempt, past, branch, left } = telling;
	if (past === null) return answerWords(telling);
	const counts = TELLING_ENDS.includes(past.exit_kind);
	const lines = [
		`This is attempt ${attempt} at this task. Attempt ${past.attempt} ${ENDS[past.exit_kind]}${counts && past.message ? `: ${past.message.replace(/\.+$/, "")}` : ""}.`,
	];
	if (branch !== null) lines.push(`What it did is on branch ${branch}, in this folder.`);
	if (left !== null) lines.push(`You do not have its memory (${left}).`);
	if (branch !== null || left !== null) lines.push("See what is there already before you begin.");
	const parts = [lines.join(" ")];
	const answered = answerWords(telling);
	if (answered !== "") parts.push(answered);
	if (counts && past.tail !== "") parts.push(`The end of what it wrote:\n${past.tail.replace(/^/gm, "    ")}`);
	return parts.join("\n\n");
}

const TAIL_LINES = 20;
const TAIL_CHARS = 2_000;

/** The last lines of a log, not too many. */
export function lastLines(text: string): string {
	const lines = text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
	return lines.length <= TAIL_CHARS ? lines : `…${lines.slice(-TAIL_CHARS).replace(/^[\udc00-\udfff]/, "")}`;
}
