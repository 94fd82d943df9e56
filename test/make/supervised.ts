// A supervisor on a fake machine: a real scheduler and real run folders, but time, timers and processes are the test's.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Disk } from "../../src/contracts/disk.ts";
import type { Facts, Host } from "../../src/contracts/host.ts";
import { type Log, SILENT } from "../../src/contracts/log.ts";
import { RUN_SETTINGS } from "../../src/core/schema/run-settings.ts";
import { usualOf } from "../../src/core/schema/setting.ts";
import { localDisk } from "../../src/host/disk.ts";
import { type JobInput, type JobView, type OpenOptions, openScheduler, type Scheduler } from "../../src/index.ts";
import {
	createSupervisor,
	type StartStep,
	type Supervisor,
	type SupervisorDeps,
	type SupervisorSettings,
} from "../../src/supervisor/index.ts";
import { FakeProcesses } from "./fake-processes.ts";
import { FakeClock } from "./fakes.ts";
import { makeFolder } from "./folder.ts";

/** The settings of tests that set none. */
export const SETTINGS: SupervisorSettings = {
	...usualOf(RUN_SETTINGS),
	env: {},
	max_log_bytes: 1_000_000_000,
	agents: {},
	accounts: {},
	reveal: (text) => ({ value: text }),
	sluice: null,
	timezone: "UTC",
};

/** Timers that go off when the test lets time pass. */
class TimedHost implements Host {
	private timers = new Set<{ at: number; call: () => void }>();
	constructor(private readonly clock: FakeClock) {}

	async probe(): Promise<Facts> {
		return {};
	}

	after(ms: number, call: () => void): () => void {
		const timer = { at: this.clock.monotonic() + Math.max(0, ms), call };
		this.timers.add(timer);
		return () => this.timers.delete(timer);
	}

	turn(): Promise<void> {
		return new Promise((resolve) => setImmediate(resolve));
	}

	/** The next timer that is due by then, taken out. */
	next(until: number): { at: number; call: () => void } | undefined {
		const due = [...this.timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
		if (due) this.timers.delete(due);
		return due;
	}

	clear(): void {
		this.timers.clear();
	}

	get waiting(): number {
		return this.timers.size;
	}
}

export type SupervisedOptions = {
	config?: NonNullable<OpenOptions["config"]>;
	settings?: Partial<SupervisorSettings>;
	disk?: Partial<Disk>;
	scheduler?: (real: Scheduler) => Scheduler;
	folder?: string;
	clock?: FakeClock;
	processes?: FakeProcesses;
	start?: "later";
	mayLaunch?: () => boolean;
	versionOf?: SupervisorDeps["versionOf"];
	step?: (step: StartStep) => void;
};

export class Supervised {
	readonly steps: string[] = [];
	readonly said: string[] = [];
	readonly supervisor: Supervisor;
	settings: SupervisorSettings;

	constructor(
		readonly sluice: Scheduler,
		readonly clock: FakeClock,
		readonly host: TimedHost,
		readonly processes: FakeProcesses,
		readonly folder: string,
		readonly options: SupervisedOptions,
	) {
		this.settings = { ...SETTINGS, env: { PATH: "/bin" }, ...options.settings };
		const say = (message: string) => void this.said.push(message);
		const log: Log = { ...SILENT, warn: say, error: say };
		let secrets = 0;
		const parts: SupervisorDeps = {
			scheduler: options.scheduler?.(sluice) ?? sluice,
			processes,
			host,
			clock,
			disk: { ...localDisk, ...options.disk },
			runs: join(folder, "runs"),
			homeTag: "home",
			socket: join(folder, "sluice.sock"),
			home: folder,
			hostName: "here",
			secret: () => `secret-of-a-run-${folder.slice(-6)}-${secrets++}-${clock.now()}`,
			settings: () => this.settings,
			log,
			...(options.mayLaunch ? { mayLaunch: options.mayLaunch } : {}),
			...(options.versionOf ? { versionOf: options.versionOf } : {}),
			step: (step, run) => {
				this.steps.push(`${run} ${step}`);
				options.step?.(step);
			},
		};
		this.supervisor = createSupervisor(parts);
	}

	async add(input: JobInput = {}): Promise<number> {
		const result = await this.sluice.add(input.agent ? input : { command: ["true"], ...input });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		await this.settle();
		return result.job.id;
	}

	/** Lets everything happen that needs no time. */
	async settle(): Promise<void> {
		for (let turn = 0; turn < 12; turn++) {
			await this.host.turn();
			const due = this.host.next(this.clock.monotonic());
			if (due) {
				due.call();
				turn = 0;
			}
		}
	}

	/** Time goes by, timer by timer. */
	async pass(ms: number): Promise<void> {
		const until = this.clock.monotonic() + ms;
		for (;;) {
			await this.settle();
			const timer = this.host.next(until);
			if (!timer) break;
			this.clock.pass(Math.max(0, timer.at - this.clock.monotonic()));
			timer.call();
		}
		this.clock.pass(until - this.clock.monotonic());
		await this.sluice.tick();
		await this.settle();
	}

	show(job: number): Promise<JobView> {
		return this.sluice.show(job);
	}

	path(run: string, name: string): string {
		return join(this.folder, "runs", ...run.split("."), name);
	}

	file(run: string, name: string): Record<string, unknown> | null {
		const path = this.path(run, name);
		return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : null;
	}

	/** The daemon is killed and started again: what it had in memory is gone, its machine and its files are not. */
	async crash(changes: SupervisedOptions & { awayMs?: number } = {}): Promise<Supervised> {
		this.host.clear();
		this.processes.onExit(() => {});
		await this.sluice.close();
		this.clock.pass(changes.awayMs ?? 0);
		const processes = new FakeProcesses(this.processes.machine);
		const { start: _start, ...options } = this.options;
		return supervise({ ...options, folder: this.folder, clock: this.clock, processes, ...changes });
	}
}

export async function supervise(options: SupervisedOptions = {}): Promise<Supervised> {
	const folder = options.folder ?? makeFolder();
	const clock = options.clock ?? new FakeClock();
	const host = new TimedHost(clock);
	const sluice = await openScheduler({
		path: join(folder, "sluice.db"),
		chance: () => 0.5,
		clock,
		host,
		drive: "manual",
		join: { name: "here" },
		...(options.config ? { config: options.config } : {}),
	});
	onTestFinished(() => sluice.close());
	const stand = new Supervised(sluice, clock, host, options.processes ?? new FakeProcesses(), folder, options);
	if (options.start !== "later") {
		await stand.supervisor.start();
		await stand.settle();
	}
	return stand;
}
