// Async calls that must not overlap: each waits for the one before.

/** A mutex: calls run one after the other, whether or not the one before failed. `idle` resolves when those that were requested have ended. */
export function createTurns(): { inTurn<T>(call: () => Promise<T>): Promise<T>; idle(): Promise<unknown> } {
	let queue: Promise<unknown> = Promise.resolve();
	return {
		inTurn(call) {
			const result = queue.then(call);
			queue = result.catch(() => {});
			return result;
		},
		idle: () => queue,
	};
}
