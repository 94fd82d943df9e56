// Async tasks that must not overlap: repeated requests for one task, and different tasks that wait for each other.

/** Runs `act` one at a time; requests that arrive meanwhile are merged into one more run afterwards. */
export function coalesce(act: () => Promise<unknown>, failed: (error: unknown) => void): () => void {
	let [running, again] = [false, false];
	const go = () => {
		again = running;
		if (running) return;
		running = true;
		act()
			.catch(failed)
			.finally(() => {
				running = false;
				if (again) go();
			});
	};
	return go;
}

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
