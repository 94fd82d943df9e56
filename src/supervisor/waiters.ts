// Callers that wait until something about the runs is true; each is asked again whenever something may have changed.

import type { Host } from "../contracts/host.ts";

export function createWaiters(host: Pick<Host, "after">) {
	let waiting: (() => void)[] = [];
	return {
		/** Resolves when `done` says so, or after `graceMs`. */
		until: (done: () => boolean, graceMs: number) =>
			new Promise<void>((resolve) => {
				if (done()) return resolve();
				const cancel = host.after(graceMs, () => resolve(), "hold");
				const check = () => {
					if (!done()) return void waiting.push(check);
					cancel();
					resolve();
				};
				waiting.push(check);
			}),
		wake(): void {
			const all = waiting;
			waiting = [];
			for (const call of all) call();
		},
	};
}
