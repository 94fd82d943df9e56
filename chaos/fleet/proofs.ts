// The verdict by the runs themselves: what they wrote, in the order in which they wrote it, against what the store says of them. Pure.

import type { Attempt, Harm } from "./replay.ts";
import { CAPS, type Piece } from "./work.ts";

export type Line = { what: "begin" | "end" | "signalled"; run: string; host: string; at: number };

/** A line of `log`; its time is of the machine that all hosts of a round are on. */
export function readLines(text: string): Line[] {
	return text
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => {
			const [what, run, host, , ns] = line.split(" ");
			return { what, run, host, at: Number(ns) / 1e6 } as Line;
		});
}

/** The store's times are those of its transactions, which began a little before they were over. */
const CLOCK_MS = 500;
/** Time that a suspended host's programs may have after it is woken: until its guard has ended them. */
const WAKING_MS = 5_000;
const isSuspended = (harms: readonly Harm[], host: string, at: number): boolean =>
	harms.some((harm) => harm.what === "suspend" && harm.host === host && harm.from <= at && at <= harm.to + WAKING_MS);

export type Proof = { faults: string[]; begun: number; ended: number; cut: number; beyond: number; highest: Record<string, number> };

type Live = { run: string; host: string; piece: Piece; until: number };

export function judgeLines(
	lines: readonly Line[],
	attempts: ReadonlyMap<string, Attempt>,
	pieces: ReadonlyMap<number, Piece>,
	harms: readonly Harm[],
): Proof {
	const faults: string[] = [];
	const highest: Record<string, number> = {};
	const closing = new Map(lines.flatMap((line) => (line.what === "begin" ? [] : [[line.run, line.at] as const])));
	const begun = new Set<string>();
	const live = new Map<string, Live>();
	let beyond = 0;

	const count = (subject: string, max: number | null, of: (one: Live) => boolean, line: Line) => {
		const now = [...live.values()].filter(of).length;
		highest[subject] = Math.max(highest[subject] ?? 0, now);
		if (max !== null && now > max) faults.push(`${line.run} on ${line.host}: ${now} programs at once in ${subject}, ${max} allowed`);
	};

	for (const line of lines) {
		if (line.what !== "begin") {
			live.delete(line.run);
			const attempt = attempts.get(line.run);
			// A host's programs end before the store gives its runs to others.
			if (attempt?.endedAt !== null && attempt && line.at > attempt.endedAt + CLOCK_MS) {
				beyond++;
				if (!isSuspended(harms, line.host, line.at))
					faults.push(
						`${line.run} on ${line.host} was alive ${Math.round(line.at - attempt.endedAt)} ms after its end in the store (${attempt.exitKind})`,
					);
			}
			continue;
		}
		const attempt = attempts.get(line.run);
		const piece = pieces.get(Number(line.run.split(".")[0]));
		if (!attempt || !piece) {
			faults.push(`${line.run} ran on ${line.host}, and the store knows nothing of it`);
			continue;
		}
		if (begun.has(line.run)) faults.push(`${line.run} began twice`);
		if (attempt.endedAt !== null && line.at > attempt.endedAt + CLOCK_MS && !isSuspended(harms, line.host, line.at))
			faults.push(
				`${line.run} began on ${line.host} ${Math.round(line.at - attempt.endedAt)} ms after its end in the store (${attempt.exitKind})`,
			);
		begun.add(line.run);
		if (attempt.host !== line.host) faults.push(`${line.run} ran on ${line.host}, and the store says on ${attempt.host}`);
		// One that was killed wrote no end: the store's counts, and the kernel's locks have shown that nobody came too early.
		for (const [run, one] of live) if (one.until < line.at || isSuspended(harms, one.host, line.at)) live.delete(run);
		for (const { run, piece: beside } of live.values()) {
			const taken = [beside.exclusive, beside.shared];
			if ((piece.exclusive !== null && taken.includes(piece.exclusive)) || (piece.shared !== null && beside.exclusive === piece.shared))
				faults.push(`${line.run} and ${run} had a key at once: ${piece.exclusive} ${piece.shared}, ${taken}`);
			if (beside === piece) faults.push(`${line.run} and ${run}, two attempts of one job, ran at once`);
		}
		live.set(line.run, {
			run: line.run,
			host: line.host,
			piece,
			until: closing.has(line.run) ? Number.POSITIVE_INFINITY : (attempt.endedAt ?? Number.POSITIVE_INFINITY),
		});
		count("all", CAPS.all, () => true, line);
		count(`host:${line.host}`, CAPS.host, ({ host }) => host === line.host, line);
		count(`lane:${piece.lane}`, CAPS.lanes[piece.lane], (one) => one.piece.lane === piece.lane, line);
	}

	for (const [run, { exitKind, host }] of attempts) {
		if (exitKind === "completed" || exitKind === "failed") {
			if (!begun.has(run)) faults.push(`${run} on ${host} is said to have ${exitKind}, and never began`);
			else if (!closing.has(run)) faults.push(`${run} on ${host} is said to have ${exitKind}, and never came to its end`);
		}
	}
	const ended = [...begun].filter((run) => closing.has(run)).length;
	return { faults, begun: begun.size, ended, cut: begun.size - ended, beyond, highest };
}

/** What the runs called a violation themselves. Files held by a suspended host's programs are held beyond its lease: that is what a suspended machine can do. */
export function judgeViolations(text: string, harms: readonly Harm[]): string[] {
	return text
		.split("\n")
		.filter((line) => line !== "")
		.filter((line) => {
			const at = Number(line.split(" ")[1]) / 1e6;
			const [own = ""] = line.split(" ");
			const named = (line.split(" | ")[1] ?? "").split(" ").map((one) => one.split("@")[1] ?? "");
			// Whoever was suspended while it counted keeps all others from counting.
			const holders = line.includes("could not count") ? harms.map(({ host }) => host) : named;
			return ![own, ...holders].some((host) => isSuspended(harms, host, at));
		});
}
