// A process that opens a scheduler on PostgreSQL and leads its fleet.

import type { ConfigInput, Scheduler } from "../../src/index.ts";
import { addAll, openFleet } from "../fleet/open.ts";
import { answerQuestions, cpuUsed } from "../fleet/processes.ts";

type LeaderOf = { url: string; name?: string; config?: ConfigInput };
export type Leading = { leads: boolean; queued: number; running: number };

let engine: Scheduler | undefined;
const opened = (): Scheduler => {
	if (!engine) throw new Error("no scheduler is open");
	return engine;
};

answerQuestions(
	{
		async open({ url, name = "leader", config = {} }: LeaderOf) {
			engine = await openFleet(url, { name, config, lead: "prefer" });
		},
		add: ({ jobs, command }: { jobs: number; command: string[] }) => addAll(opened(), jobs, 500, () => ({ command })),
		async state(): Promise<Leading> {
			const { queued_total: queued, running } = await opened().status();
			return { leads: await opened().leads(), queued, running };
		},
		cpu: cpuUsed,
	},
	async () => engine?.close(),
);
