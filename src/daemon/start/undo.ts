// What undoes a start: each stage adds its actions, and they run in reverse order when the daemon stops or a stage fails.

export type Undo = { push(call: () => unknown): void; unwind(): Promise<void> };

export function createUndo(): Undo {
	const calls: (() => unknown)[] = [];
	return {
		push: (call) => void calls.push(call),
		async unwind() {
			for (const call of calls.splice(0).reverse()) await call();
		},
	};
}
