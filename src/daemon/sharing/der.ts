// Writes DER, the binary form of ASN.1 that certificates have: tag, length, content. Only what a self-signed certificate needs (decision 0141).

const CONSTRUCTED = 0x20;
const CONTEXT = 0x80;

function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
	const body = Buffer.concat(content);
	return Buffer.concat([Buffer.from([tag]), lengthOf(body.length), body]);
}

/** Below 128 in one byte; else the number of bytes that follow, and then these. */
function lengthOf(length: number): Buffer {
	if (length < 0x80) return Buffer.from([length]);
	const bytes: number[] = [];
	for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
	return Buffer.from([0x80 | bytes.length, ...bytes]);
}

export const sequence = (...content: readonly Uint8Array[]): Buffer => element(0x10 | CONSTRUCTED, ...content);
export const set = (...content: readonly Uint8Array[]): Buffer => element(0x11 | CONSTRUCTED, ...content);
export const octets = (...content: readonly Uint8Array[]): Buffer => element(0x04, ...content);
export const bits = (content: Uint8Array): Buffer => element(0x03, Buffer.from([0]), content);
export const text = (content: string): Buffer => element(0x0c, Buffer.from(content, "utf8"));
export const TRUE: Buffer = element(0x01, Buffer.from([0xff]));
/** `[n] EXPLICIT`: an element around another one. */
export const explicit = (n: number, content: Uint8Array): Buffer => element(CONTEXT | CONSTRUCTED | n, content);
/** `[n] IMPLICIT`: the content itself, under another tag. */
export const implicit = (n: number, content: Uint8Array): Buffer => element(CONTEXT | n, content);

/** A number that is not negative, as big-endian bytes: without leading zeros, but with one before a byte that would make it negative. */
export function integer(bytes: Uint8Array): Buffer {
	let from = 0;
	while (from < bytes.length - 1 && bytes[from] === 0) from++;
	const rest = bytes.length === 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(from));
	return element(0x02, ...((rest[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : []), rest);
}

/** `1.2.840.10045.2.1`. */
export function objectId(dotted: string): Buffer {
	const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
	return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
	const bytes = [arc % 128];
	for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift((rest % 128) | 0x80);
	return bytes;
}

/** Years before 2050 have two digits (UTCTime), later ones four (GeneralizedTime): RFC 5280, 4.1.2.5. */
export function time(at: number): Buffer {
	const digits = new Date(at)
		.toISOString()
		.replace(/\.\d+Z$/, "Z")
		.replace(/[-:T]/g, "");
	return Number(digits.slice(0, 4)) < 2050 ? element(0x17, Buffer.from(digits.slice(2))) : element(0x18, Buffer.from(digits));
}

export function pem(label: string, der: Uint8Array): string {
	const lines =
		Buffer.from(der)
			.toString("base64")
			.match(/.{1,64}/g) ?? [];
	return `-----BEGIN ${label}-----\n${lines.join("\n")}\n-----END ${label}-----\n`;
}
