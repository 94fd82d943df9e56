// A stop that may be asked for at any time, by several: done once, and not before the start is over.

export type Stopping<Wish> = {
	/** The start is over. */
	ready(): void;
	stop(wish?: Wish): Promise<void>;
	/** Resolves when it is done, whoever asked for it. */
	stopped: Promise<void>;
};

export function createStopping<Wish extends object>(act: (wish: Wish) => Promise<void>): Stopping<Wish> {
	let [ready, finished] = [() => {}, () => {}];
	const started = new Promise<void>((resolve) => {
		ready = resolve;
	});
	const stopped = new Promise<void>((resolve) => {
		finished = resolve;
	});
	let stopping: Promise<void> | undefined;
	return {
		ready,
		stopped,
		stop(wish = {} as Wish) {
			stopping ??= started.then(() => act(wish)).finally(finished);
			return stopping;
		},
	};
}
