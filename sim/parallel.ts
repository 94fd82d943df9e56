// Seeds shared out among processes: each takes every nth one.

import { fork } from "node:child_process";
import type { Failure } from "./run-seed.ts";

export type Share = { seeds: number; steps: number; bad: number; marks: [string, number][] };
type Message = { failure: Failure } | { share: Share } | { done: number };
/** Told of what comes in from the processes. */
export type Hearer = { failed(failure: Failure): void; went(seeds: number): void };

export async function shareOut(first: number, seeds: number, processes: number, args: string[], tell: Hearer): Promise<Share> {
	const total: Share = { seeds: 0, steps: 0, bad: 0, marks: [] };
	const one = (index: number) =>
		new Promise<void>((done, fail) => {
			const count = Math.ceil((seeds - index) / processes);
			const child = fork(
				new URL(import.meta.resolve("./main.js")),
				[...args, "--share", "--seed", String(first + index), "--seeds", String(count), "--parallel", "1"],
				{ env: { ...process.env, SIM_STEP: String(processes) } },
			);
			let told = false;
			child.on("message", (message: Message) => {
				if ("failure" in message) return tell.failed(message.failure);
				if ("done" in message) return tell.went(message.done);
				told = true;
				total.seeds += message.share.seeds;
				total.steps += message.share.steps;
				total.bad += message.share.bad;
				total.marks.push(...message.share.marks);
			});
			child.on("exit", (code) => (told ? done() : fail(new Error(`a simulator process ended with ${code} and no result`))));
		});
	await Promise.all(Array.from({ length: processes }, (_, index) => one(index)));
	return total;
}
