// Terminal colours in a line of text: reads SGR sequences (16, 256 and true colours, bold, dim, italic, underline, inverse), applies carriage returns,
// backspaces and erasures as a terminal would, and drops every other sequence and control character. Pure; a line of any content costs time linear in
// its length and at most MOST_SPANS spans.

/** A colour of the palette (0–255), or `#rrggbb`. */
export type AnsiColour = number | string;
export type AnsiStyle = {
	readonly fg: AnsiColour | null;
	readonly bg: AnsiColour | null;
	readonly bold: boolean;
	readonly dim: boolean;
	readonly italic: boolean;
	readonly underline: boolean;
	readonly inverse: boolean;
};
export type AnsiSpan = { text: string; style: AnsiStyle };
/** `spans`: null if all of the text is plain. `end`: the style in which the next line begins. */
export type AnsiLine = { text: string; spans: AnsiSpan[] | null; end: AnsiStyle };

export const PLAIN: AnsiStyle = { fg: null, bg: null, bold: false, dim: false, italic: false, underline: false, inverse: false };

/** What follows the last of them is shown in the style of the last. */
export const MOST_SPANS = 200;
/** A sequence with more characters than this is no colour. */
const MOST_PARAMETERS = 100;

const ESCAPE = "\u001b";
/** Control characters, and the marks that turn the direction of the text around them: a log could show another text than it has. */
const SPECIAL = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

const isPlain = (style: AnsiStyle): boolean => style === PLAIN || isSame(style, PLAIN);
const isSame = (a: AnsiStyle, b: AnsiStyle): boolean =>
	a === b ||
	(a.fg === b.fg &&
		a.bg === b.bg &&
		a.bold === b.bold &&
		a.dim === b.dim &&
		a.italic === b.italic &&
		a.underline === b.underline &&
		a.inverse === b.inverse);

/** Reads one line, without its newline, that begins in a style. */
export function readAnsi(line: string, start: AnsiStyle = PLAIN): AnsiLine {
	if (!SPECIAL.test(line)) return { text: line, spans: isPlain(start) || line === "" ? null : [{ text: line, style: start }], end: start };
	const cells = new Cells(start);
	for (let at = 0; at < line.length; ) {
		const sign = line[at] as string;
		if (sign === ESCAPE) at = cells.sequence(line, at + 1);
		else if (sign === "\r" || sign === "\b") {
			// A carriage return right before the newline moves nothing that is written over.
			cells.column = sign === "\r" ? 0 : Math.max(0, cells.column - 1);
			at++;
		} else {
			const letter = String.fromCodePoint(line.codePointAt(at) as number);
			if (letter === "\t" || !SPECIAL.test(letter)) cells.write(letter);
			at += letter.length;
		}
	}
	return cells.line();
}

/** The text of a line without colours and control characters. */
export const plainText = (line: string): string => (SPECIAL.test(line) ? readAnsi(line).text : line);

/** One line of a terminal. */
class Cells {
	private letters: string[] = [];
	private styles: AnsiStyle[] = [];
	column = 0;

	constructor(private style: AnsiStyle) {}

	write(letter: string): void {
		// Backspaces never lead beyond the end, so there are no gaps.
		this.letters[this.column] = letter;
		this.styles[this.column] = this.style;
		this.column++;
	}

	/** Applies the sequence after an escape, and returns where the text goes on. */
	sequence(line: string, at: number): number {
		const kind = line[at];
		if (kind === "[") {
			let end = at + 1;
			while (end < line.length && /[\u0020-\u003f]/.test(line[end] as string)) end++;
			const final = line[end] ?? "";
			// A sequence that the line's end or another character cuts is dropped up to there.
			if (!/^[@-~]$/.test(final)) return end;
			const parameters = line.slice(at + 1, end);
			if (final === "m" && parameters.length <= MOST_PARAMETERS && /^[\d;:]*$/.test(parameters))
				this.style = styled(this.style, parameters);
			if (final === "K") this.erase(parameters);
			return end + 1;
		}
		if (kind === "]" || kind === "P" || kind === "X" || kind === "^" || kind === "_") {
			const end = endOfString(line, at + 1);
			// Without its end only the beginning is dropped: otherwise it would hide the rest of the line.
			return end < 0 ? at + 1 : end;
		}
		let end = at;
		while (end < line.length && /[\u0020-\u002f]/.test(line[end] as string)) end++;
		return /^[0-~]$/.test(line[end] ?? "") ? end + 1 : end;
	}

	private erase(how: string): void {
		if (how === "" || how === "0") {
			this.letters.length = Math.min(this.letters.length, this.column);
			this.styles.length = this.letters.length;
			for (let at = this.letters.length; at < this.column; at++) [this.letters[at], this.styles[at]] = [" ", PLAIN];
		} else if (how === "1" || how === "2") {
			const upTo = how === "2" ? this.letters.length : Math.min(this.letters.length, this.column + 1);
			for (let at = 0; at < upTo; at++) [this.letters[at], this.styles[at]] = [" ", PLAIN];
			if (how === "2") this.letters.length = this.styles.length = this.column;
		}
	}

	line(): AnsiLine {
		const spans: AnsiSpan[] = [];
		let coloured = false;
		for (let from = 0; from < this.letters.length; ) {
			const style = this.styles[from] as AnsiStyle;
			let to = from + 1;
			const isLast = spans.length === MOST_SPANS - 1;
			while (to < this.letters.length && (isLast || isSame(this.styles[to] as AnsiStyle, style))) to++;
			coloured ||= !isPlain(style);
			spans.push({ text: this.letters.slice(from, to).join(""), style });
			from = to;
		}
		const text = this.letters.join("");
		return { text, spans: coloured ? spans : null, end: isPlain(this.style) ? PLAIN : this.style };
	}
}

/** Where the text after a string of the terminal (a title, a link) goes on; −1 if the string does not end in this line. */
function endOfString(line: string, from: number): number {
	for (let at = from; at < line.length; at++) {
		if (line[at] === "\u0007" || line[at] === "\u009c") return at + 1;
		if (line[at] === ESCAPE) return line[at + 1] === "\\" ? at + 2 : -1;
	}
	return -1;
}

/** The style after a sequence `ESC [ parameters m`. */
function styled(before: AnsiStyle, parameters: string): AnsiStyle {
	let style = before;
	const codes = parameters.split(";");
	for (let at = 0; at < codes.length; at++) {
		const [code = 0, ...more] = (codes[at] as string).split(":").map((text) => (text === "" ? 0 : Number(text)));
		if (code === 38 || code === 48) {
			// `38:2::r:g:b` has its values in one parameter, `38;2;r;g;b` in those that follow.
			const values = more.length > 0 ? more : codes.slice(at + 1, at + 5).map((text) => (/^\d+$/.test(text) ? Number(text) : 0));
			const colour = extended(values, more.length > 0 ? "colons" : "semicolons");
			if (more.length === 0) at += values[0] === 5 ? 2 : values[0] === 2 ? 4 : codes.length;
			if (colour !== null) style = code === 38 ? { ...style, fg: colour } : { ...style, bg: colour };
		} else style = simple(style, code, more);
	}
	return style;
}

function extended(values: readonly number[], how: "colons" | "semicolons"): AnsiColour | null {
	const [kind, ...rest] = values;
	if (kind === 5) return rest[0] !== undefined && rest[0] <= 255 ? rest[0] : null;
	if (kind !== 2) return null;
	// With colons a colour space, usually empty, may come before the three values.
	const rgb = how === "colons" && rest.length > 3 ? rest.slice(1, 4) : rest.slice(0, 3);
	return rgb.length === 3 && rgb.every((value) => value <= 255) ? hex(rgb) : null;
}

const hex = (rgb: readonly number[]): string => `#${rgb.map((value) => value.toString(16).padStart(2, "0")).join("")}`;

function simple(style: AnsiStyle, code: number, more: readonly number[]): AnsiStyle {
	if (code === 0) return PLAIN;
	if (code === 1) return { ...style, bold: true };
	if (code === 2) return { ...style, dim: true };
	if (code === 3) return { ...style, italic: true };
	if (code === 4 || code === 21) return { ...style, underline: more[0] !== 0 };
	if (code === 7) return { ...style, inverse: true };
	if (code === 22) return { ...style, bold: false, dim: false };
	if (code === 23) return { ...style, italic: false };
	if (code === 24) return { ...style, underline: false };
	if (code === 27) return { ...style, inverse: false };
	if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
	if (code === 39) return { ...style, fg: null };
	if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
	if (code === 49) return { ...style, bg: null };
	if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
	if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
	return style;
}
