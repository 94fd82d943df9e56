// What a text can do to a terminal besides being read: sequences that move, colour or hide, and characters that do the same alone.

const ESC = "\\u001b";
/** `ESC [ … letter`; colours are those that end in m. */
const control = (last: string) => `${ESC}\\[[0-?]*[ -/]*[${last}]`;
const COLOUR = `${ESC}\\[[0-9;:]*m`;
/** `ESC ] … BEL`, `ESC P … ESC \` and the like, if they end: titles, links, the clipboard. */
const string = `${ESC}[\\]PX^_][^\\u0007\\u001b]{0,8192}(?:\\u0007|${ESC}\\\\)`;
/** Writing directions that reorder what is read. */
const turning = "\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";

/** All that a terminal takes for a sequence, and a single ESC. */
const SEQUENCES = `${control("@-~")}|${string}|${ESC}[ -/]{0,8}[0-~]?`;
const ANY = new RegExp(SEQUENCES, "g");
/** A colour; any other sequence; a carriage return that is not at a line's end; all other control characters but tab and line end. */
const UNRULY = new RegExp(
	`(${COLOUR})|${SEQUENCES}|(\\r(?!\\n))|[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f${turning}]`,
	"g",
);

/** Bold, dim, italic, underlined, inverse and their ends; the 16 colours of text and background. Not among them: blinking (5, 6), concealed (8), fonts. */
const PLAIN_STYLE = /^(?:[0-47]|2[234579]|[34][0-79]|(?:9|10)[0-7])$/;
/** The kind of an underline; a colour by its number, or by red, green and blue, in one parameter. */
const BYTE = "(?:1?\\d?\\d|2[0-4]\\d|25[0-5])";
const JOINED = new RegExp(`^(?:4:[0-5]|[34]8:(?:5:${BYTE}|2:(?:\\d?:)?${BYTE}:${BYTE}:${BYTE}))$`);
const LISTED = new RegExp(`^[34]8;(?:5;${BYTE}|2;${BYTE};${BYTE};${BYTE})$`);

/** A colour sequence without the parameters that could hide text, or that are no colours; empty if none is left. */
function harmless(colour: string): string {
	const given = colour.slice(2, -1).split(";");
	const kept: string[] = [];
	for (let at = 0; at < given.length; at++) {
		const one = (given[at] ?? "").replace(/^0+(?=\d)/, "");
		if (/^[345]8$/.test(one)) {
			// The parameters that belong to it are no attributes of their own.
			const length = given[at + 1] === "2" ? 5 : 3;
			const whole = [one, ...given.slice(at + 1, at + length)].join(";");
			if (LISTED.test(whole)) kept.push(whole);
			at += length - 1;
		} else if (one === "" || PLAIN_STYLE.test(one) || JOINED.test(one)) kept.push(one === "" && given.length > 1 ? "0" : one);
	}
	return kept.length === 0 ? "" : `\u001b[${kept.join(";")}m`;
}

/** Text that Sluice has painted, without its colours: to measure it. */
export const withoutSequences = (text: string): string => (text.includes("\u001b") ? text.replace(ANY, "") : text);

/** Text and sequences by turns. */
export const splitSequences = (text: string): string[] => text.split(new RegExp(`(${SEQUENCES})`));

/**
 * What may stay in a text of several lines that is shown to a person: colours, where they are wanted. One pass takes every ESC away that does not begin a whole
 * colour, so what is left cannot join into a new sequence. A carriage return would let a line be written over, so it ends the line.
 */
export function tame(text: string, colours: "keep" | "drop"): string {
	return text.replace(UNRULY, (_, colour: string | undefined, carriage: string | undefined, at: number) => {
		if (colour !== undefined) return colours === "keep" ? harmless(colour) : "";
		// The last character of a piece: a line end may follow in the next one.
		return carriage === undefined || at === text.length - 1 ? "" : "\n";
	});
}

/** A tamed text in one line: it cannot move the cursor, change colours or hide text. */
export const printable = (text: string): string => tame(text, "drop").replace(/[\r\n\t]+/g, " ");

/** Keys as a terminal sends them: arrows are sequences. */
export const splitKeys = (text: string): string[] => text.match(new RegExp(`${control("A-Za-z~")}|[\\s\\S]`, "gu")) ?? [];

/** As it could be typed. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
