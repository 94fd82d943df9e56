// The message with which a prepared statement is carried out: bound, described if its columns are not known yet, executed, and the end of it. One
// piece, written once; the library makes four, and grows each from nothing.

const [BIND, DESCRIBE, EXECUTE, SYNC] = Array.from("BDES", (letter) => letter.charCodeAt(0)) as [number, number, number, number];
const HEADER = 5;
/** Longer texts are measured before, and written by the machine. */
const SHORT = 40;
/** What a character takes at most. */
const WIDEST = 3;
const REST = 64;

export function executeMessage(name: string, values: readonly unknown[], describe: boolean): Buffer {
	const texts: (string | null)[] = [];
	let most = REST + name.length;
	for (const value of values) {
		const text = value === null || value === undefined ? null : typeof value === "string" ? value : String(value);
		texts.push(text);
		most += 4;
		if (text !== null) most += text.length <= SHORT ? WIDEST * text.length : Buffer.byteLength(text);
	}
	const buffer = Buffer.allocUnsafe(most);
	// No name for the portal, the statement's, no formats: all is text.
	let at = HEADER;
	buffer[0] = BIND;
	buffer[at++] = 0;
	at += buffer.write(name, at);
	buffer[at++] = 0;
	at = int16(buffer, 0, at);
	at = int16(buffer, texts.length, at);
	for (const text of texts) at = text === null ? int32(buffer, -1, at) : written(buffer, text, at);
	at = int16(buffer, 0, at);
	int32(buffer, at - 1, 1);
	if (describe) {
		buffer[at++] = DESCRIBE;
		at = int32(buffer, 6, at);
		buffer[at++] = "P".charCodeAt(0);
		buffer[at++] = 0;
	}
	buffer[at++] = EXECUTE;
	at = int32(buffer, 9, at);
	buffer[at++] = 0;
	at = int32(buffer, 0, at);
	buffer[at++] = SYNC;
	at = int32(buffer, 4, at);
	return buffer.subarray(0, at);
}

/** Its length, and the text; tells where it ends. */
function written(buffer: Buffer, text: string, at: number): number {
	const start = at + 4;
	let end = start;
	if (text.length <= SHORT) {
		for (let index = 0; index < text.length; index++) {
			const code = text.charCodeAt(index);
			if (code > 0x7f) {
				end = start + buffer.write(text, start);
				break;
			}
			buffer[end++] = code;
		}
	} else end += buffer.write(text, start);
	int32(buffer, end - start, at);
	return end;
}

function int16(buffer: Buffer, value: number, at: number): number {
	buffer[at] = value >> 8;
	buffer[at + 1] = value;
	return at + 2;
}

function int32(buffer: Buffer, value: number, at: number): number {
	buffer[at] = value >> 24;
	buffer[at + 1] = value >> 16;
	buffer[at + 2] = value >> 8;
	buffer[at + 3] = value;
	return at + 4;
}
