// A call from an earlier part of the daemon to a later one, for two parts that need each other: the earlier part gets `call`, and the later part connects
// itself once it is there.

/** `before` answers until a part is connected. */
export function createLink<Args extends unknown[], Result>(before: (...args: Args) => Result) {
	let current = before;
	return {
		call: (...args: Args): Result => current(...args),
		connect(to: typeof before): void {
			current = to;
		},
	};
}
