// A call from an earlier part of the daemon to a later one, for two parts that need each other: the earlier part gets `call`, and the later part connects
// itself once it is there.

export type Link<Args extends unknown[], Result> = {
	call: (...args: Args) => Result;
	connect(to: (...args: Args) => Result): void;
};

/** `before` answers until a part is connected. */
export function createLink<Args extends unknown[], Result>(before: (...args: Args) => Result): Link<Args, Result> {
	let current = before;
	return {
		call: (...args) => current(...args),
		connect(to) {
			current = to;
		},
	};
}
