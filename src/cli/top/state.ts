// What the live screen shows, and in which order. Pure, so that tests can check it.

import type { StatusDocument } from "../../api/documents/status.ts";
import { hasEnded, isMergeStuck, isWaiting, type ShownJob, subjectOf } from "../printing/job-lines.ts";
import { instantOf } from "../times.ts";

export type Section = "needs you" | "running" | "next" | "held back" | "ended";
const SECTIONS: readonly Section[] = ["needs you", "running", "next", "held back", "ended"];

/** What covers the list. */
export type Pane =
	| { is: "text"; title: string; lines: readonly string[]; from: number }
	/** The end of a job's log, as far as it was read; `from` is the first line that is shown, "end" follows it. */
	| { is: "log"; job: number; title: string; lines: readonly string[]; from: number | "end" };

/** What a line of input is for. */
export type InputFor = "answer" | "reject" | "hold" | "filter";
export type Question =
	| { is: "confirm"; words: string; act: KeyAct; otherwise: string }
	| { is: "input"; words: string; typed: string; to: InputFor; job: number | undefined };

/** What a key asks the daemon for. */
export type KeyAct =
	| JobAct
	| { do: "why" | "log" | "diff"; job: number }
	| { do: "pause" | "resume" }
	| { do: "quit" }
	| { do: "interrupt" };
/** Changes a job. */
export type JobAct =
	| { do: "cancel" | "retry" | "approve" | "promote" | "release"; job: number }
	| { do: "answer" | "reject" | "hold"; job: number; text: string };

export type TopState = {
	status: StatusDocument | undefined;
	/** In the order of the screen: see `inOrder`. */
	jobs: readonly ShownJob[];
	/** Jobs that wait for a person. */
	needs: ReadonlySet<number>;
	/** The selected job's number. */
	selected: number | undefined;
	pane: Pane | undefined;
	question: Question | undefined;
	/** Only jobs with all of these words are listed. */
	filter: string;
	/** The last line: what was just done, or what failed. */
	note: string | undefined;
	now: number;
};

export const freshState = (now: number): TopState => ({
	status: undefined,
	jobs: [],
	needs: new Set(),
	selected: undefined,
	pane: undefined,
	question: undefined,
	filter: "",
	note: undefined,
	now,
});

export function sectionOf(job: ShownJob, needs: ReadonlySet<number>): Section {
	if (needs.has(job.id)) return "needs you";
	if (job.status === "running") return "running";
	if (!isWaiting(job)) return "ended";
	return job.status === "queued" && !job.blocked && !job.held ? "next" : "held back";
}

/** Jobs that wait for a person, running jobs, jobs that start next in the order of their starts, jobs that are held back, ended jobs with the latest first. */
export function inOrder(jobs: readonly ShownJob[], needs: ReadonlySet<number>, queue: readonly number[]): ShownJob[] {
	const places = new Map(queue.map((id, place) => [id, place]));
	const rank = (job: ShownJob) => SECTIONS.indexOf(sectionOf(job, needs));
	const within = (job: ShownJob) => {
		if (hasEnded(job) && !needs.has(job.id)) return -(instantOf(job.ended_at) ?? 0);
		return places.get(job.id) ?? Number.MAX_SAFE_INTEGER;
	};
	return [...jobs].sort((a, b) => rank(a) - rank(b) || within(a) - within(b) || a.id - b.id);
}

/** Jobs that ask, that need approval now, or whose merge is stuck. */
export function needsOf(status: StatusDocument | undefined, jobs: readonly ShownJob[]): Set<number> {
	const asking = (status?.needs_human ?? []).map(({ job }) => job);
	return new Set([...asking, ...jobs.filter(isMergeStuck).map(({ id }) => id)]);
}

/** The listed jobs: those with every word of the filter. */
export function listed({ jobs, filter }: Pick<TopState, "jobs" | "filter">): readonly ShownJob[] {
	const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return jobs;
	return jobs.filter((job) => {
		const texts = [job.id, job.name, job.status, job.lane, job.batch, job.repo, job.agent, job.owner, subjectOf(job)];
		const text = texts.filter((one) => one !== null && one !== undefined).join("\n");
		return words.every((word) => text.toLowerCase().includes(word));
	});
}

/** The new selection. */
export function moved(jobs: readonly ShownJob[], selected: number | undefined, by: number): number | undefined {
	const at = jobs.findIndex((job) => job.id === selected);
	if (at < 0) return jobs[0]?.id;
	return jobs[Math.max(0, Math.min(jobs.length - 1, at + by))]?.id;
}

/** Keeps the selection on its job. When the job has left the list, the one at its place is selected. */
export function keepSelection(state: TopState, before: readonly ShownJob[]): void {
	const jobs = listed(state);
	if (jobs.some(({ id }) => id === state.selected)) return;
	const place = before.findIndex(({ id }) => id === state.selected);
	state.selected = jobs[Math.max(0, Math.min(place, jobs.length - 1))]?.id;
}

export const selectedJob = (state: TopState): ShownJob | undefined => listed(state).find(({ id }) => id === state.selected);
