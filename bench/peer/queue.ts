// What a peer has to do for the rows: take jobs in batches, work them off, and say when one that was added alone has started.

export type PeerRun = { jobs: number; batch: number };

export type Peer = {
	name: string;
	/** What it does less than ours, or differently. */
	keeps: string;
	/** Adds all, then works them off. Microseconds a job. */
	process(url: string, run: PeerRun): Promise<number>;
	/** A worker that waits, and an adder beside it. */
	starter?(url: string): Promise<Starter>;
};

export type Starter = { add(n: number): Promise<unknown>; onStart(call: () => void): void; end(): Promise<void> };

/** Resolves when it was called so many times. */
export function countdown(times: number): { call(by?: number): void; done: Promise<void> } {
	let left = times;
	let resolve = () => {};
	const done = new Promise<void>((found) => {
		resolve = found;
	});
	return {
		done,
		call(by = 1) {
			left -= by;
			if (left === 0) resolve();
			if (left < 0) throw new Error(`${-left} jobs too many were run`);
		},
	};
}

export const batches = function* ({ jobs, batch }: PeerRun): Generator<number[]> {
	for (let from = 0; from < jobs; from += batch) yield Array.from({ length: Math.min(batch, jobs - from) }, (_, i) => from + i);
};
