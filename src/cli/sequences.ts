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
const COLOURS = new RegExp(`${ESC}\\[[0-9;:]*m`, "g");
/** All but colours, tabs, line ends and carriage returns. */
const UNRULY = new RegExp(
	`${control("@-ln-~")}|${command}|${short}|[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001a\\u001c-\\u001f\\u007f${turning}]`,
	"g",
);

export const withoutSequences = (text: string): string => (text.includes("\u001b") ? text.replace(ANY, "") : text);

/** Text and sequences by turns. */
export const splitSequences = (text: string): string[] => text.split(new RegExp(`(${SEQUENCES})`));

/** One line that cannot move the cursor, change colours or hide text, whoever wrote it. */
export const printable = (text: string): string => withoutSequences(text.replace(/[\r\n\t]+/g, " ")).replace(ALONE, "");

/** What may stay in a log that is shown to a person. */
export function tame(text: string, colours: "keep" | "drop"): string {
	const calm = text.replace(UNRULY, "");
	return colours === "keep" ? calm : calm.replace(COLOURS, "");
}

/** Keys as a terminal sends them: arrows are sequences. */
export const splitKeys = (text: string): string[] => text.match(new RegExp(`${control("A-Za-z~")}|[\\s\\S]`, "gu")) ?? [];

/** As it could be typed. */
export const shellWord = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
