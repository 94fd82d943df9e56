// Splits chunks of text into lines. A line longer than any that shims write is dropped up to its end, so that a writer that never ends a line costs no
// memory.

/** Much longer than a shim's line ("exited", a run, a shim's id), and less than a pipe takes in one write. */
const MOST_CHARS = 200;

export type LineSplitter = { take(piece: string): void /** Characters of a line that has not ended. */; kept(): number };

export function splitLines(onLine: (line: string) => void): LineSplitter {
	let rest = "";
	let tooLong = false;
	const append = (text: string) => {
		if (tooLong) return;
		tooLong = rest.length + text.length > MOST_CHARS;
		rest = tooLong ? "" : rest + text;
	};
	return {
		take(piece) {
			let from = 0;
			for (let end = piece.indexOf("\n"); end >= 0; end = piece.indexOf("\n", from)) {
				append(piece.slice(from, end));
				if (!tooLong) onLine(rest);
				rest = "";
				tooLong = false;
				from = end + 1;
			}
			append(piece.slice(from));
		},
		kept: () => rest.length,
	};
}
