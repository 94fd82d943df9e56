// Text of others as it can be stored and shown in a terminal: without colours and control characters, on one line where that is wanted. Pure.

export const MESSAGE_MAX = 300;

/** Without colours and other control characters but ends of lines: it is stored, and shown in terminals. */
export const storable = (text: string): string =>
	text
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
		.replace(/\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|.)/g, "")
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
		.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]+/g, " ")
		.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
		.trim();

/** The same on one line, and not too long. */
export function oneLine(text: string): string {
	return cutTo(MESSAGE_MAX, storable(text).replace(/[\n\t]+/g, " "));
}

/** At most `max` characters; `…` stands where the rest was. */
export const cutTo = (max: number, text: string): string =>
	text.length <= max ? text : `${text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, "")}…`;
