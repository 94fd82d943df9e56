// What a notice tells besides that there is something new: what was added, where a transaction did nothing else. Whoever hears it need not ask.
//
// Everybody who may connect to the database can listen, so it is sealed with a key that only those can read who may read the jobs themselves.

import { createCipheriv, createDecipheriv, createHash } from "node:crypto";
import type { Arrivals, Changes } from "../../store.ts";
import { counts } from "./counters.ts";

/** `version`: the one that the transaction has made; `counters`: as they stand in `head` since. */
export type News = { version: number; counters: string | null; arrivals: Arrivals };

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const NONCE_CHARS = 16;
const TAG_BYTES = 16;
const TAG_CHARS = 24;
/** PostgreSQL takes less than 8,000 bytes. */
const MOST_CHARS = 7_800;
/** Documents of more than this do not fit in any case. */
const MOST_PLAIN = 5_700;
/** More than that is not waited for: whoever has not asked for so long asks anew. */
const MOST_NEWS = 100;
/** Then the count is used up. */
const MOST_SEALED = 2 ** 32;

export class Newsroom {
	private readonly key: Buffer;
	private readonly nonce: () => Buffer;
	private heard: News[] = [];
	private sealed = 0;

	constructor(
		private readonly writer: string,
		secret: string,
	) {
		this.key = createHash("sha256").update(secret).digest();
		this.nonce = makeNonces(writer);
	}

	/** What a notice says: by whom, and what was added, if that is all and fits. */
	payload({ version, counters, changes }: { version: number; counters: string | null; changes: Changes }): string {
		if (!onlyAdds(changes) || this.sealed === MOST_SEALED) return this.writer;
		this.sealed++;
		const { insert, specs, events, records } = changes;
		const text = JSON.stringify({ version, counters, arrivals: { insert, specs, events, records } } satisfies News);
		if (text.length > MOST_PLAIN) return this.writer;
		const payload = `${this.writer} ${seal(this.key, this.nonce(), text)}`;
		return payload.length > MOST_CHARS ? this.writer : payload;
	}

	/** `something`: there is something new, but what is not said. */
	take(payload: string): "ours" | "told" | "something" {
		const [writer, sealed] = payload.split(" ");
		if (writer === this.writer) return "ours";
		const text = sealed === undefined ? undefined : unseal(this.key, sealed);
		if (text === undefined) return "something";
		if (this.heard.length >= MOST_NEWS) this.heard.shift();
		this.heard.push(JSON.parse(text) as News);
		return "told";
	}

	clear(): void {
		this.heard = [];
	}

	/** Everything since a version, in order; undefined: something in between was not told. */
	since(version: number): News[] | undefined {
		const news = this.heard.filter((one) => one.version > version);
		this.heard = news;
		if (news.some((one, index) => one.version !== version + 1 + index)) return undefined;
		return news;
	}
}

/** Nobody can do more because of that: it need not be told at once. */
export function onlyStarts({ running, events: _, records, ...others }: Changes): boolean {
	return running.length > 0 && areEmpty(others) && records.every(([kind, key]) => counts(kind, key));
}

const areEmpty = (lists: Partial<Changes>): boolean => Object.values(lists).every((list) => list.length === 0);

/** What it added is all there is to know of it. */
export function onlyAdds({ insert, specs: _, events: __, records, ...others }: Changes): boolean {
	return (
		insert.length > 0 &&
		areEmpty(others) &&
		records.every(([kind, key, value]) => counts(kind, key) && (value as { stage?: unknown } | null)?.stage === undefined)
	);
}

/** What differs for every message of a key: the writer, who is another each time that a store is opened, and a count. */
function makeNonces(writer: string): () => Buffer {
	const nonce = createHash("sha256").update(writer).digest().subarray(0, NONCE_BYTES);
	let count = 0;
	return () => {
		nonce.writeUInt32BE(count++, NONCE_BYTES - 4);
		return nonce;
	};
}

function seal(key: Buffer, nonce: Buffer, text: string): string {
	const cipher = createCipheriv(CIPHER, key, nonce);
	const sealed = cipher.update(text, "utf8", "base64") + cipher.final("base64");
	return `${nonce.toString("base64")}${cipher.getAuthTag().toString("base64")}${sealed}`;
}

/** undefined: not sealed with this key, or not by us at all. */
function unseal(key: Buffer, sealed: string): string | undefined {
	if (sealed.length <= NONCE_CHARS + TAG_CHARS) return undefined;
	try {
		const decipher = createDecipheriv(CIPHER, key, Buffer.from(sealed.slice(0, NONCE_CHARS), "base64"), { authTagLength: TAG_BYTES });
		decipher.setAuthTag(Buffer.from(sealed.slice(NONCE_CHARS, NONCE_CHARS + TAG_CHARS), "base64"));
		return decipher.update(sealed.slice(NONCE_CHARS + TAG_CHARS), "base64", "utf8") + decipher.final("utf8");
	} catch {
		return undefined;
	}
}
