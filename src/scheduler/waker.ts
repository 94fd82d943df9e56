// Tells whoever waits that something has happened: workers that want a job, readers of events.

import type { Host } from "../host.ts";

export type Waker = { wake(): void; next(ms: number, host: Host): Promise<void>; close(): void; readonly closed: boolean };

export function createWaker(): Waker {
	let wakers: (() => void)[] = [];
	let closed = false;
	return {
		get closed() {
			return closed;
		},
		wake() {
			const all = wakers;
			wakers = [];
			for (const call of all) call();
		},
		next: (ms, host) =>
			new Promise((resolve) => {
				let cancel = () => {};
				const call = () => {
					cancel();
					resolve();
				};
				wakers.push(call);
				// Somebody waits for what comes next: the process is not over.
				cancel = host.after(
					ms,
					() => {
						wakers = wakers.filter((one) => one !== call);
						resolve();
					},
					"hold",
				);
			}),
		close() {
			closed = true;
			this.wake();
		},
	};
}
