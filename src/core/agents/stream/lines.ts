// Splits a stream of bytes into lines in bounded memory. Skips lines longer than MAX_LINE.

/** Agents write a tool's whole output on one line; a longer line is not an event. */
export const MAX_LINE = 10 * 1024 * 1024;

export function createLines(call: (line: string) => void, max = MAX_LINE) {
	let parts: Uint8Array[] = [];
	let held = 0;
	let tooLong = false;
	let skipped = 0;

	const take = (last: Uint8Array): string => {
		if (parts.length === 0) return new TextDecoder().decode(last);
		const all = new Uint8Array(held + last.length);
		let at = 0;
		for (const part of [...parts, last]) {
			all.set(part, at);
			at += part.length;
		}
		return new TextDecoder().decode(all);
	};
	const hold = (part: Uint8Array): void => {
		if (tooLong || part.length === 0) return;
		if (held + part.length > max) {
			tooLong = true;
			skipped++;
			parts = [];
			held = 0;
			return;
		}
		// A copy: the caller may reuse its buffer.
		parts.push(part.slice());
		held += part.length;
	};

	return {
		push(bytes: Uint8Array): void {
			let from = 0;
			for (;;) {
				const newline = bytes.indexOf(10, from);
				if (newline < 0) break;
				const last = bytes.subarray(from, newline);
				from = newline + 1;
				if (!tooLong && held + last.length <= max) {
					const line = take(last);
					parts = [];
					held = 0;
					call(line);
					continue;
				}
				if (!tooLong) skipped++;
				tooLong = false;
				parts = [];
				held = 0;
			}
			hold(bytes.subarray(from));
		},
		/** The rest without a line end; null if the last line was complete. */
		end(): string | null {
			if (tooLong || held === 0) return null;
			const line = take(new Uint8Array(0));
			parts = [];
			held = 0;
			return line;
		},
		/** Number of lines that were too long. */
		get skipped() {
			return skipped;
		},
	};
}
