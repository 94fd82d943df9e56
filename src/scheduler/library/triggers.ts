// The library's methods for triggers.

import type { Act, Scheduler } from "../../contracts/scheduler.ts";
import * as triggers from "../operations/triggers.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import type { Adding } from "./add.ts";

type Parts = {
	engine: Engine;
	run: <T>(task: Task<T>, act: Act | undefined) => Promise<T>;
	adding: Adding;
};

export const triggerMethods = ({ engine, run, adding }: Parts): Pick<Scheduler, "arm" | "disarm" | "triggers" | "fire"> => ({
	arm: async (name, mark) => engine.run((tx) => triggers.arm(tx, name, mark)),
	disarm: async (name) => engine.run((tx) => triggers.disarm(tx, name)),
	triggers: () => engine.look(() => triggers.triggers()),
	fire: async (name, { slot = null, job, when_open = "skip", error = null }, act) => {
		if (job)
			return adding({ ...job, trigger: name }, act ?? {}, (tx, draft, more) => triggers.fire(tx, name, slot, when_open, draft, more));
		if (slot !== null) await run((tx) => triggers.pass(tx, name, slot, error), act);
		return { outcome: "past" };
	},
});
