// Wakes callers that wait for something to happen: workers that want a job, readers of events.

import type { Host } from "../../contracts/host.ts";

export type Waker = ReturnType<typeof createWaker>;

export function createWaker() {
	let wakers: (() => void)[] = [];
	let closed = false;
	return {
		get closed() {
			return closed;
		},
		wake(): void {
			const all = wakers;
			wakers = [];
			for (const call of all) call();
		},
		next: (ms: number, host: Host) =>
			new Promise<void>((resolve) => {
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
		close(): void {
			closed = true;
			this.wake();
		},
	};
}
