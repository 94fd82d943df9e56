// Where a home's socket is: one rule for daemon and clients. Kernels allow little more than a hundred bytes for a socket's path.

import { join } from "node:path";

const LONGEST = 104;

/** `tmp` and `uid` name the fallback's folder, which the daemon makes with mode 0700. */
export function socketPath(home: string, { tmp, uid }: { tmp: string; uid: number }): string {
	const plain = join(home, "sluice.sock");
	if (Buffer.byteLength(plain) <= LONGEST) return plain;
	return join(tmp, `sluice-${uid}`, `${hash(home)}.sock`);
}

/** FNV-1a with 64 bits: tells homes apart. (node:crypto would cost every command its loading.) */
function hash(text: string): string {
	let sum = 0xcbf29ce484222325n;
	for (const byte of Buffer.from(text)) sum = BigInt.asUintN(64, (sum ^ BigInt(byte)) * 0x100000001b3n);
	return sum.toString(16).padStart(16, "0");
}
