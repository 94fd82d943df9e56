// Repeated requests for one async task.

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
