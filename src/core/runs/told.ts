// What people tell a job's agent while the job is open: kept with the job, handed to a run once, and repeated only to a run that starts afresh. Pure.
//
//   how    the job                                          then
//   turn   runs, and its agent's session can be resumed     it is stopped at its next turn boundary and resumed with the text, first of all jobs
//   next   waits, or runs an agent that cannot be resumed   the prompt of its next attempt has the text

/** `attempt`: the run that got it; absent until one did. */
export type Told = { number: number; text: string; by: string; at: number; attempt?: number };
export type ToldHow = "turn" | "next";

/** Texts of a job that wait for a run, and texts that are kept. */
export const TOLD_PENDING = 20;
const TOLD_KEPT = 40;
export const TOLD_CHARACTERS = 10_000;

export const pendingOf = (told: readonly Told[] | undefined): Told[] => (told ?? []).filter(({ attempt }) => attempt === undefined);

/** With one more; of those that a run has got, the oldest go first. */
export function withTold(told: readonly Told[] | undefined, text: string, by: string, at: number): Told[] {
	const before = told ?? [];
	const all = [...before, { number: (before.at(-1)?.number ?? 0) + 1, text, by, at }];
	const surplus = all.length - TOLD_KEPT;
	let dropped = 0;
	return all.filter(({ attempt }) => attempt === undefined || dropped++ >= surplus);
}

const listed = (told: readonly Told[]): string => told.map(({ text }) => text.trim()).join("\n\n");

/** For a session that goes on. */
export const wordsForResumed = (told: readonly Told[]): string =>
	`A person who follows your work says:\n\n${listed(told)}\n\nTake it into account, and go on with the task.`;

/** For a run that starts afresh: all that was told since the job was added. */
export const wordsForFresh = (told: readonly Told[]): string => `A person added to this task:\n\n${listed(told)}`;
