// How long the simulator waits for the engine.

import { Disagreement } from "../model/agree.ts";

const PATIENCE_S = 30;

/** A promise that never settles is a bug, not a reason to wait for ever. */
export async function patiently<T>(work: Promise<T>, what: string): Promise<T> {
	let timer: NodeJS.Timeout | undefined;
	const tooLong = new Promise<never>((_, no) => {
		// Second by second: one timer would also run out while the whole machine stood still.
		const wait = (seconds: number) => {
			if (seconds === 0) no(new Disagreement(`${what} did not answer within ${PATIENCE_S} s`));
			else timer = setTimeout(wait, 1000, seconds - 1);
		};
		wait(PATIENCE_S);
	});
	try {
		return await Promise.race([work, tooLong]);
	} finally {
		clearTimeout(timer);
	}
}
