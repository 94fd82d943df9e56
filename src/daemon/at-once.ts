// Something that is asked for more often than it can be done.

/** One at a time; what is asked for meanwhile is done once more afterwards. */
export function atOnce(act: () => Promise<unknown>, failed: (error: unknown) => void): () => void {
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
