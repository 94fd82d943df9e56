// A test stand: a scheduler on a fake clock and a fake host, in manual drive, with short words for what tests do with it.

import { onTestFinished } from "vitest";
import type {
	AddResult,
	Claimed,
	ClaimOptions,
	Ended,
	EventRow,
	ExitKind,
	JobInput,
	JobView,
	OpenOptions,
	Reason,
	RunEnd,
	Scheduler,
	Status,
} from "../../src/index.ts";
import { openScheduler } from "../../src/open.ts";
import type { Core } from "../../src/scheduler/operations/core.ts";
import { FakeClock, FakeHost } from "./fakes.ts";

export type StandOptions = Partial<Omit<OpenOptions, "clock" | "host" | "drive">> & { clock?: FakeClock; host?: FakeHost };

export class Stand {
	/** Live runs of this stand, by job: their tokens are needed to end them. */
	readonly runs = new Map<number, Claimed>();
	private looks = 0;

	constructor(
		readonly sluice: Scheduler,
		readonly clock: FakeClock,
		readonly host: FakeHost,
		readonly options: StandOptions,
	) {}

	/** What `add` answers; a job that says nothing else runs the command `true`. */
	tryAdd(input: JobInput = {}, options?: { force?: boolean }): Promise<AddResult> {
		const runs = input.command !== undefined || input.agent !== undefined || input.payload !== undefined;
		return this.sluice.add(runs ? input : { command: ["true"], ...input }, options);
	}

	/** Adds a job that must be accepted; its number. */
	async add(input: JobInput = {}, options?: { force?: boolean }): Promise<number> {
		const result = await this.tryAdd(input, options);
		if (result.outcome !== "queued") throw new Error(`not accepted: ${JSON.stringify(result)}`);
		return result.job.id;
	}

	/** One claim: the numbers of the jobs that started, in their order. */
	async start(max = 1000, more: Partial<ClaimOptions> = {}): Promise<number[]> {
		const claimed = await this.sluice.claim({ worker: "w", max, ...more });
		for (const one of claimed) this.runs.set(one.job.id, one);
		return claimed.map((one) => one.job.id);
	}

	/** The run that this stand started for a job. */
	run(id: number): { job: number; token: number } {
		const claimed = this.runs.get(id);
		if (!claimed) throw new Error(`job ${id} was not started here`);
		return { job: id, token: claimed.run.token };
	}

	async end(id: number, exit_kind: ExitKind, more: Partial<RunEnd> = {}): Promise<Ended> {
		const ended = await this.sluice.complete({ ...this.run(id), exit_kind, ...more });
		this.runs.delete(id);
		return ended;
	}

	succeed(id: number): Promise<Ended> {
		return this.end(id, "completed", { exit_code: 0 });
	}

	fail(id: number, more: Partial<RunEnd> = {}): Promise<Ended> {
		return this.end(id, "failed", { exit_code: 1, ...more });
	}

	/** Adds a job and runs it to its end, before all others. */
	async done(input: JobInput = {}, exit: ExitKind = "completed"): Promise<number> {
		const id = await this.add(input);
		await this.sluice.runNow(id);
		const [started] = await this.start(1);
		if (started !== id) throw new Error(`job ${id} did not start`);
		await this.end(id, exit);
		return id;
	}

	/** Time goes by, and the scheduler notices. */
	async wait(ms: number): Promise<void> {
		this.clock.pass(ms);
		await this.sluice.tick();
	}

	show(id: number): Promise<JobView> {
		return this.sluice.show(id);
	}

	async status(id: number): Promise<Status> {
		return (await this.sluice.show(id)).status;
	}

	async reasons(id: number): Promise<Reason[]> {
		return (await this.sluice.why(id)).reasons;
	}

	/** Gate and code of each reason, in order: `locks/locks`, `capacity/turn`. */
	async gates(id: number): Promise<string[]> {
		return (await this.reasons(id)).map(({ gate, code }) => `${gate}/${code}`);
	}

	/** Every event so far. */
	async events(): Promise<EventRow[]> {
		const last = `custom:test:last-event-${++this.looks}`;
		await this.sluice.mark(last);
		const found: EventRow[] = [];
		for await (const event of this.sluice.events({ since: 0 })) {
			if (event.kind === "marked" && event.data.artifact === last) break;
			found.push(event);
		}
		return found;
	}

	/** Closes this one and opens the same file again, as after a restart. */
	async reopen(changes: StandOptions = {}): Promise<Stand> {
		await this.sluice.close();
		return openStand({ ...this.options, clock: this.clock, host: this.host, ...changes });
	}
}

/** Where stands keep their jobs: a SQLite file or memory, unless the file of tests that imports this one wants another store. */
let place: (path: string) => Promise<Pick<OpenOptions, "path" | "url">> = async (path) => ({ path });
export const placeStands = (next: typeof place): void => {
	place = next;
};
/** The same for tests that open a scheduler by themselves. */
export const placeOf = (path: string): ReturnType<typeof place> => place(path);

/** What is put between a stand's library and its core, if the file of tests that imports this one wants that. */
let wrapping: ((core: Core) => Core) | undefined;
export const wrapStands = (next: NonNullable<typeof wrapping>): void => {
	wrapping = next;
};

export async function openStand(options: StandOptions = {}, wrap = wrapping): Promise<Stand> {
	const { clock = new FakeClock(), host = new FakeHost(), path = ":memory:", ...rest } = options;
	// Without jitter unless a test brings its own dice: 0.5 is the middle of the range.
	const sluice = await openScheduler({ ...(await place(path)), chance: () => 0.5, ...rest, clock, host, drive: "manual" }, { wrap });
	onTestFinished(() => sluice.close());
	return new Stand(sluice, clock, host, options);
}
