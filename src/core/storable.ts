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
	const plain = storable(text).replace(/[\n\t]+/g, " ");
	if (plain.length <= MESSAGE_MAX) return plain;
	return `${plain.slice(0, MESSAGE_MAX - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
