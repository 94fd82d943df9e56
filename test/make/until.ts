// Waiting for a condition, in place of a sleep.

import { setTimeout as pause } from "node:timers/promises";

/** What `look` answers, once that is neither false nor nothing. The test's own time limit ends the wait. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
	for (;;) {
		const found = await look();
		if (found) return found;
		await pause(5);
	}
}
