// What each key does on the live screen. A key changes what is shown, or asks for an act; dangerous acts are asked about first.

import { hasEnded, isMergeStuck, isWaiting, labelOf, type ShownJob } from "../printing/job-lines.ts";
import { type InputFor, type KeyAct, keepSelection, listed, moved, type Pane, type Question, selectedJob, type TopState } from "./state.ts";

const ESCAPE = "\u001b";
const INTERRUPT = "\u0003";
const ENTER: ReadonlySet<string> = new Set(["\r", "\n"]);
const ERASE: ReadonlySet<string> = new Set(["\u007f", "\b"]);
const ERASE_ALL = "\u0015";
/** By how many rows a key moves; g and G go to the first and to the last row. */
const STEPS: Record<string, number> = {
	j: 1,
	"\u001b[B": 1,
	k: -1,
	"\u001b[A": -1,
	"\u001b[6~": 10,
	" ": 10,
	"\u001b[5~": -10,
	g: -1e9,
	G: 1e9,
};
/** Most characters of a line of input. */
const LONGEST_INPUT = 10_000;

/** The keys in the order of the help: what each is called there, and what it does. */
const HELP: readonly (readonly [keys: string, does: string])[] = [
	["j k ↑ ↓", "next, previous job; Space, PgUp and PgDn by ten; g G to the first, the last"],
	["Enter l", "its log, live"],
	["w", "why it waits, or how it ended"],
	["d", "what it has changed"],
	["a x", "approve, reject"],
	["i", "answer what it asks"],
	["r", "run it again, and what comes after it"],
	["c", "cancel it"],
	["t", "to the front of its lane"],
	["h", "hold it, release it"],
	["p", "pause everything, resume"],
	["/", "list only jobs with these words; Escape lists all"],
	["?", "this help"],
	["q", "quit; Escape goes back"],
];

/** Keys that quit, or that nothing may keep waiting. */
export const leaves = (key: string): boolean => key === INTERRUPT || key === "q" || key === ESCAPE;

/** Changes the state; returns what is to be asked of the daemon. */
export function press(state: TopState, key: string): KeyAct | undefined {
	if (key === INTERRUPT) return { do: "interrupt" };
	if (state.question) return pressInQuestion(state, state.question, key);
	state.note = undefined;
	if (state.pane) {
		pressInPane(state, state.pane, key);
		return undefined;
	}
	return pressInList(state, key);
}

function pressInQuestion(state: TopState, question: Question, key: string): KeyAct | undefined {
	if (question.is === "confirm") {
		state.question = undefined;
		if (key === "y" || key === "Y") return question.act;
		state.note = question.otherwise;
		return undefined;
	}
	if (ENTER.has(key)) {
		state.question = undefined;
		return entered(state, question);
	}
	if (key === ESCAPE) {
		state.question = undefined;
		if (question.to === "filter") setFilter(state, "");
		return undefined;
	}
	if (ERASE.has(key)) question.typed = [...question.typed].slice(0, -1).join("");
	else if (key === ERASE_ALL) question.typed = "";
	else if (!isControl(key) && question.typed.length < LONGEST_INPUT) question.typed += key;
	if (question.to === "filter") setFilter(state, question.typed);
	return undefined;
}

const isControl = (key: string): boolean => key < " " || key.startsWith(ESCAPE);

function setFilter(state: TopState, filter: string): void {
	const before = listed(state);
	state.filter = filter;
	keepSelection(state, before);
}

function entered(state: TopState, { to, job, typed }: Extract<Question, { is: "input" }>): KeyAct | undefined {
	if (to === "filter" || job === undefined) return undefined;
	const text = typed.trim();
	if (text === "" && to === "answer") {
		state.note = "nothing sent";
		return undefined;
	}
	return { do: to, job, text };
}

function pressInPane(state: TopState, pane: Pane, key: string): void {
	const step = STEPS[key];
	if (step !== undefined) {
		const last = Math.max(0, pane.lines.length - 1);
		const at = pane.from === "end" ? last : pane.from;
		const to = Math.max(0, Math.min(last, at + step));
		state.pane = pane.is === "log" ? { ...pane, from: step > 0 && to >= last ? "end" : to } : { ...pane, from: to };
	} else if (key === "f" && pane.is === "log") state.pane = { ...pane, from: "end" };
	else state.pane = undefined;
}

function pressInList(state: TopState, key: string): KeyAct | undefined {
	const step = STEPS[key];
	if (step !== undefined) {
		state.selected = moved(listed(state), state.selected, step);
		return undefined;
	}
	switch (key) {
		case ESCAPE:
			if (state.filter === "") return { do: "quit" };
			setFilter(state, "");
			return undefined;
		case "q":
			return { do: "quit" };
		case "?":
			state.pane = { is: "text", title: "Keys", lines: helpLines(), from: 0 };
			return undefined;
		case "/":
			state.question = { is: "input", words: "only jobs with", typed: state.filter, to: "filter", job: undefined };
			return undefined;
		case "p":
			if (state.status?.paused) return { do: "resume" };
			state.question = {
				is: "confirm",
				words: "pause everything? Nothing new starts. y or n",
				act: { do: "pause" },
				otherwise: "not paused",
			};
			return undefined;
	}
	const job = selectedJob(state);
	return job && pressOnJob(state, job, key);
}

const helpLines = (): string[] => HELP.map(([keys, does]) => `${keys.padEnd(10)} ${does}`);

function pressOnJob(state: TopState, job: ShownJob, key: string): KeyAct | undefined {
	const { id } = job;
	const say = (words: string): undefined => {
		state.note = `${labelOf(job)} ${words}`;
	};
	const confirm = (words: string, act: KeyAct, otherwise: string): undefined => {
		state.question = { is: "confirm", words, act, otherwise };
	};
	const input = (to: InputFor, words: string): undefined => {
		state.question = { is: "input", words, typed: "", to, job: id };
	};
	if (ENTER.has(key)) return { do: "log", job: id };
	switch (key) {
		case "l":
			return { do: "log", job: id };
		case "w":
			return { do: "why", job: id };
		case "d":
			return { do: "diff", job: id };
		case "t":
			return { do: "promote", job: id };
		case "a":
			return job.approval === "needed" ? { do: "approve", job: id } : say("does not wait for approval");
		case "x":
			return job.approval === "needed" ? input("reject", `reject ${labelOf(job)}, because`) : say("does not wait for approval");
		case "i":
			if (job.question || (job.denied ?? []).length > 0) return input("answer", `answer ${labelOf(job)}`);
			return say("asks nothing");
		case "h":
			if (job.hold) return { do: "release", job: id };
			return isWaiting(job) ? input("hold", `hold ${labelOf(job)}, because`) : say("does not wait");
		case "c":
			return hasEnded(job) ? say("has ended") : confirm(`cancel ${labelOf(job)}? y or n`, { do: "cancel", job: id }, "not cancelled");
		case "r":
			if (!hasEnded(job)) return say("has not ended");
			if (job.status !== "succeeded") return { do: "retry", job: id };
			return confirm(
				`${labelOf(job)} ${isMergeStuck(job) ? "is not merged" : "succeeded"}; run it and all that comes after it again? y or n`,
				{ do: "retry", job: id },
				"not run again",
			);
	}
	return undefined;
}
