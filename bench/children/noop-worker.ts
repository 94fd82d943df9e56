// A process that works no-ops off: a member of a fleet that another process leads, or pg-boss.

import type { Scheduler, Worker } from "../../src/index.ts";
import { openFleet } from "../fleet/open.ts";
import { answerQuestions } from "../fleet/processes.ts";
import { type Boss, openBoss, QUEUE } from "../peer/pg-boss.ts";

type Opening = { which: "sluice" | "pg-boss"; url: string; name: string; batch: number };

let engine: Scheduler | undefined;
let worker: Worker | undefined;
let boss: Boss | undefined;
let batch = 0;
let done = 0;
let changed = () => {};
let stopped = false;

const count = (jobs: number) => {
	done += jobs;
	changed();
};

/** Not quicker for an empty queue than pg-boss's own workers can poll. */
const EMPTY_MS = 5;

async function fetchAll(of: Boss): Promise<void> {
	while (!stopped) {
		const taken = await of.fetch(QUEUE, { batchSize: batch });
		if (taken.length > 0)
			await of.complete(
				QUEUE,
				taken.map(({ id }) => id),
			);
		else await new Promise((resolve) => setTimeout(resolve, EMPTY_MS));
		if (taken.length > 0) count(taken.length);
	}
}

answerQuestions(
	{
		async open({ which, url, name, batch: size }: Opening) {
			batch = size;
			if (which === "pg-boss") boss = await openBoss(url);
			else engine = await openFleet(url, { name, lead: "never" });
		},
		work: () => {
			if (boss) void fetchAll(boss);
			else worker = engine?.work("default", async () => count(1), { concurrency: batch, worker: `${process.pid}` });
		},
		/** Until the last outcomes are durable. */
		rest: async () => worker?.stop(),
		/** Answers when more than `known` are done, with how many. */
		more: async (known: number) => {
			while (done <= known && !stopped)
				await new Promise<void>((resolve) => {
					changed = resolve;
				});
			return done;
		},
	},
	async () => {
		stopped = true;
		changed();
		await engine?.close();
		await boss?.stop({ graceful: false });
	},
);
