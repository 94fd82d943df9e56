// What the library's methods share.
import type { Clock, Host } from "../../contracts/host.ts";
import type { Act } from "../../contracts/scheduler.ts";
import type { Config } from "../../core/config.ts";
import type { Engine, Task } from "../transaction/group-commit.ts";
import type { Tx } from "../transaction/tx.ts";
import type { Waker } from "./waker.ts";

export type LibraryParts = {
	engine: Engine;
	clock: Clock;
	host: Host;
	hostName: string;
	config: () => Config;
	waker: Waker;
	/** Runs a task in the name of the caller. `jobs`: those that the task will read. */
	run: <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) => Promise<T>;
	/** The same for a task that reads nothing from the store. */
	runPlain: <T>(task: (tx: Tx) => T, act: Act | undefined) => Promise<T>;
};
