// Makes foreign text safe to store and to show in a terminal: without colours and control characters, on one line if wanted. Pure.

export const MESSAGE_MAX = 300;

/** Removes colours and all control characters except line ends. */
export const storable = (text: string): string => cleaned(text).trim();

const cleaned = (text: string): string =>
	text
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
		.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g, "")
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
		.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g, " ")
		.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");

/** The same on one line, truncated. */
export function oneLine(text: string): string {
	return cutTo(MESSAGE_MAX, storable(text).replace(/[\n\t]+/g, " "));
}

/** At most `max` characters; a truncated text ends with `…`. */
export const cutTo = (max: number, text: string): string =>
	text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;

/**
 * The last line that is not indented, else the last that is not blank. Programs indent what explains the line before: a hint, the calls of a stack trace.
 */
export function lastLine(text: string): string {
	const lines = text
		.split(/[\r\n]+/)
		.map(cleaned)
		.filter((line) => line.trim() !== "");
	return (lines.findLast((line) => !/^\s/.test(line)) ?? lines.at(-1) ?? "").trim();
}
