// What a text can do to a terminal besides being read: sequences that move, colour or hide, and characters that do the same alone.

const ESC = "\\u001b";
/** `ESC [ … letter`; colours are those that end in m. */
const control = (last: string) => `${ESC}\\[[0-?]*[ -/]*[${last}]`;
/** `ESC ] … BEL`: titles, links, the clipboard. */
const command = `${ESC}\\][^\\u0007\\u001b]*(?:\\u0007|${ESC}\\\\)?`;
const short = `${ESC}[@-Z\\\\-_]`;
/** Writing directions that reorder what is read. */
const turning = "\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069";

const SEQUENCES = `${control("@-~")}|${command}|${short}`;
const ANY = new RegExp(SEQUENCES, "g");
const ALONE = new RegExp(`[\\u0000-\\u001f\\u007f-\\u009f${turning}]`, "g");
const COLOUR = `${ESC}\\[[0-9;:]*m`;
/** `ESC ] … BEL`, `ESC P … ESC \` and the like, if they end: titles, links, the clipboard. */
const string = `${ESC}[\\]PX^_][^\\u0007\\u001b]{0,8192}(?:\\u0007|${ESC}\\\\)`;
/** Any other that a terminal takes for a sequence; a single ESC; a carriage return that is not at a line's end; all other control characters but tab and line end. */
const UNRULY = new RegExp(
	[
		`(${COLOUR})`,
		control("@-~"),
		string,
		`${ESC}[ -/]{0,8}[0-~]?`,
		"(\\r(?!\\n))",
		`[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f${turning}]`,
	].join("|"),
	"g",
);

export const withoutSequences = (text: string): string => (text.includes("\u001b") ? text.replace(ANY, "") : text);

/** Text and sequences by turns. */
export const splitSequences = (text: string): string[] => text.split(new RegExp(`(${SEQUENCES})`));

/** One line that cannot move the cursor, change colours or hide text, whoever wrote it. */
export const printable = (text: string): string => withoutSequences(text.replace(/[\r\n\t]+/g, " ")).replace(ALONE, "");

/**
 * What may stay in a text of several lines that is shown to a person: colours, where they are wanted. One pass takes every ESC away that does not begin a whole
 * colour, so what is left cannot join into a new sequence. A carriage return would let a line be written over, so it ends the line.
 */
export function tame(text: string, colours: "keep" | "drop"): string {
	return text.replace(UNRULY, (_, colour: string | undefined, carriage: string | undefined, at: number) => {
		if (colour !== undefined) return colours === "keep" ? colour : "";
		// The last character of a piece: a line end may follow in the next one.
		return carriage === undefined || at === text.length - 1 ? "" : "\n";
	});
}

/** Keys as a terminal sends them: arrows are sequences. */
export const splitKeys = (text: string): string[] => text.match(new RegExp(`${control("A-Za-z~")}|[\\s\\S]`, "gu")) ?? [];

/** As it could be typed. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
