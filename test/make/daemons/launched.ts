// A process layer over a folder of its own, and what tests want to know of its runs. Everything that carries its marks is gone when the test ends.

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Launch, Processes } from "../../../src/contracts/processes.ts";
import type { Sighting } from "../../../src/core/runs/sighting.ts";
import { openProcesses } from "../../../src/host/processes/index.ts";
import { makeFolder } from "../folder.ts";
import { until } from "../until.ts";

export type Launched = {
	home: string;
	processes: Processes;
	/** The runs whose exit was reported, in order. */
	exits: string[];
	dirOf(run: string): string;
	markOf(run: string): string;
	/** Launches with an ordinary environment, unless told otherwise. */
	launch(run: string, argv: string[], more?: Partial<Launch>): Promise<void>;
	look(run: string): Sighting;
	/** Waits until the run has ended, by looking. */
	end(run: string): Promise<Sighting>;
	/** A file of the run, "" when it is not there. */
	read(run: string, file: string): string;
};

/** `leased`: its shims have watchers, which read the file `lease` in the home. */
export async function makeLaunched(options: { home?: string; tag?: string; leased?: boolean } = {}): Promise<Launched> {
	const home = options.home ?? makeFolder();
	const tag = options.tag ?? `test${randomBytes(6).toString("hex")}`;
	const processes = await openProcesses({ home, ...(options.leased ? { lease: { file: join(home, "lease"), prefix: `${tag}-` } } : {}) });
	const exits: string[] = [];
	const launched = new Set<string>();
	processes.onExit((one) => exits.push(one));
	const dirOf = (run: string) => join(home, run);
	const markOf = (run: string) => `${tag}-${run}`;
	const look = (run: string) => processes.look(run, dirOf(run));
	onTestFinished(async () => {
		// First the runs, one by one: in the moment before its exec a program carries no mark yet.
		await until(() =>
			[...launched].every(
				(run) => processes.forbid(run, dirOf(run)) || look(run).state !== "alive" || !processes.signal(run, dirOf(run), "SIGKILL"),
			),
		);
		await until(() => {
			const left = processes.marked(`${tag}-`);
			for (const [mark, pids] of left) processes.signalAll(mark, pids, "SIGKILL");
			return left.size === 0;
		});
		await processes.close();
	});
	return {
		home,
		processes,
		exits,
		dirOf,
		markOf,
		look,
		launch(run, argv, more = {}) {
			mkdirSync(dirOf(run), { recursive: true });
			launched.add(run);
			return processes.launch({ run, dir: dirOf(run), mark: markOf(run), argv, cwd: home, env: { PATH: "/usr/bin:/bin" }, ...more });
		},
		async end(run) {
			await until(() => ["exited", "gone"].includes(look(run).state));
			return look(run);
		},
		read(run, file) {
			try {
				return readFileSync(join(dirOf(run), file), "utf8");
			} catch {
				return "";
			}
		},
	};
}
