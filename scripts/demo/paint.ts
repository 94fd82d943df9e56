// Lines of coloured pieces, cut to the width of where they go; times counted from the start of the demo.

type Style = "bold" | "dim" | "green" | "yellow" | "red" | "cyan" | "alarm";
export type Line = (string | [string, Style])[];

const CODES: Record<Style, string> = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33", cyan: "36", alarm: "1;37;41" };

/** A terminal that can be drawn on, with room for all jobs. */
export const isLive = process.stdout.isTTY === true && process.env.TERM !== "dumb" && (process.stdout.rows ?? 24) >= 24;
const colours = process.stdout.isTTY === true && process.env.TERM !== "dumb" && !process.env.NO_COLOR;

export const width = (): number => (process.stdout.isTTY ? (process.stdout.columns ?? 80) - 1 : 119);

export function paint(line: Line, room = width()): string {
	let left = room;
	let out = "";
	for (const piece of line) {
		const [text, style] = typeof piece === "string" ? [piece, undefined] : piece;
		const shown = text.length > left ? `${text.slice(0, Math.max(0, left - 1))}…`.slice(0, left) : text;
		left -= shown.length;
		out += colours && style && shown ? `\x1b[${CODES[style]}m${shown}\x1b[0m` : shown;
	}
	return out;
}

/** Words of one line, broken into as many as are needed; the later ones begin further in. */
export function wrap(head: string, text: string): Line[] {
	const room = Math.max(40, Math.min(width(), 100)) - head.length;
	const lines = [""];
	for (const word of text.split(" ")) {
		const last = lines.at(-1) as string;
		if (last !== "" && last.length + 1 + word.length > room) lines.push(word);
		else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
	}
	return lines.map((line, index) => [index === 0 ? [head, "bold"] : " ".repeat(head.length), line]);
}

export const print = (...lines: Line[]): void => void process.stdout.write(lines.map((line) => `${paint(line)}\n`).join(""));

let began = Date.now();
export const begin = (): void => {
	began = Date.now();
};
export const sinceBegin = (at: number): number => at - began;
export const seconds = (ms: number): string => `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
/** `12.3 s` */
export const clock = (at: number): string => seconds(sinceBegin(at));

/** `a`, `a and b`, `a, b and c` */
export const listed = (names: readonly string[]): string =>
	names.length < 2 ? (names[0] ?? "none") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
