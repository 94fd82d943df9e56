// Wakes callers that wait for something to happen: workers that want a job, readers of events.

import type { Host } from "../../contracts/host.ts";

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
				// "hold": a caller waits for this timer, so it must keep the process alive.
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
