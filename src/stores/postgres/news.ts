// What a notice tells besides that there is something new: what was added, where a transaction did nothing else. A host that receives it need not read.
//
// Every role that may connect to the database can listen, so it is encrypted with a key that only roles that may read the jobs can read.

import { type CipherGCM, createCipheriv, createDecipheriv, createHash, type DecipherGCM } from "node:crypto";
import type { Arrivals, Changes, JobRow } from "../../contracts/store.ts";
import type { Job } from "../../core/job.ts";
import { counts } from "./counters.ts";

/** `version`: the one that the transaction has made; `counters`: as they stand in `head` since, which is all that it has changed of records. */
export type News = { version: number; counters: string | null; arrivals: Omit<Arrivals, "records"> };
/** What a transaction does; `whole`: all its records are among the counters. */
export type Made = { version: number; counters: string | null; changes: Changes; whole: boolean };

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FRONT_BYTES = NONCE_BYTES + TAG_BYTES;
/** PostgreSQL takes less than 8,000 bytes. */
const MOST_CHARS = 7_800;
/** Documents of more than this do not fit in any case. */
const MOST_PLAIN = 5_700;
/** Notices beyond this number are dropped: a host that has not read for so long reads everything again. */
const MOST_NEWS = 100;
/** Then the count is used up. */
const MOST_SEALED = 2 ** 32;

export class Newsroom {
	private readonly key: Buffer;
	private readonly nonce: Buffer;
	private heard: News[] = [];
	private sealed = 0;
	/** For the next one that is sealed, and for the one that is expected next: to make one takes longer than to use it. */
	private cipher: CipherGCM | undefined;
	private decipher: DecipherGCM | undefined;
	private expected: Buffer | undefined;

	constructor(
		private readonly writer: string,
		secret: string,
	) {
		this.key = createHash("sha256").update(secret).digest();
		this.nonce = firstNonce(writer);
	}

	/** For when there is time: the database has been asked, say. */
	prepare(): void {
		if (!this.cipher && this.sealed < MOST_SEALED) this.cipher = createCipheriv(CIPHER, this.key, this.nonce);
		if (this.expected && !this.decipher) this.decipher = this.decipherFor(this.expected);
	}

	/** What a notice says: by whom, and what was added, if that is all and fits. */
	payload({ version, counters, changes, whole }: Made): string {
		if (!whole || !onlyAdds(changes) || this.sealed >= MOST_SEALED) return this.writer;
		const text = written(version, counters, changes);
		if (text.length > MOST_PLAIN) return this.writer;
		const payload = `${this.writer} ${this.seal(text)}`;
		return payload.length > MOST_CHARS ? this.writer : payload;
	}

	/** `something`: there is something new, but what is not said. */
	take(payload: string): "ours" | "told" | "something" {
		const [writer, sealed] = payload.split(" ");
		if (writer === this.writer) return "ours";
		const text = sealed === undefined ? undefined : this.unseal(sealed);
		if (text === undefined) return "something";
		if (this.heard.length >= MOST_NEWS) this.heard.shift();
		this.heard.push(readNews(text));
		return "told";
	}

	/** undefined: not sealed with this key, or not by us at all. */
	private unseal(sealed: string): string | undefined {
		const bytes = Buffer.from(sealed, "base64");
		if (bytes.length <= FRONT_BYTES) return undefined;
		const nonce = bytes.subarray(0, NONCE_BYTES);
		const decipher = this.decipher && this.expected?.equals(nonce) ? this.decipher : this.decipherFor(nonce);
		this.decipher = undefined;
		try {
			decipher.setAuthTag(bytes.subarray(NONCE_BYTES, FRONT_BYTES));
			const text = decipher.update(bytes.subarray(FRONT_BYTES));
			decipher.final();
			// The writer of the last notice is likely to send the next one.
			count(nonce);
			this.expected = nonce;
			return text.toString("utf8");
		} catch {
			return undefined;
		}
	}

	private decipherFor = (nonce: Buffer): DecipherGCM => createDecipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES });

	private seal(text: string): string {
		const cipher = this.cipher ?? createCipheriv(CIPHER, this.key, this.nonce);
		this.cipher = undefined;
		// Without encodings: each would make a decoder of its own.
		const sealed = cipher.update(text, "utf8");
		cipher.final();
		const whole = Buffer.concat([this.nonce, cipher.getAuthTag(), sealed]).toString("base64");
		this.sealed++;
		count(this.nonce);
		return whole;
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

/** A transaction that only starts jobs makes no other job startable, so other hosts need no immediate notification. */
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
const firstNonce = (writer: string): Buffer => {
	const nonce = createHash("sha256").update(writer).digest().subarray(0, NONCE_BYTES);
	nonce.writeUInt32BE(0, NONCE_BYTES - 4);
	return nonce;
};

/** To the next one, in place. */
const count = (nonce: Buffer): void => void nonce.writeUInt32BE((nonce.readUInt32BE(NONCE_BYTES - 4) + 1) >>> 0, NONCE_BYTES - 4);

/** In no text of JSON. */
const BETWEEN = "\x1e";

/** Short, since it is cold code that makes, seals, opens and reads it while a caller waits: what stands in a job's document is not said beside it again. */
function written(version: number, counters: string | null, { insert, specs, events }: Changes): string {
	const rows = insert.map(({ job, rank, level, age_at, ready_at, due_at }) => [job, rank, level, age_at, ready_at, due_at]);
	return `${version}${BETWEEN}${counters ?? ""}${BETWEEN}${JSON.stringify([rows, specs, events])}`;
}

type Written = [rows: [Job, number, number, number, number | null, number | null][], specs: Changes["specs"], events: Changes["events"]];

function readNews(text: string): News {
	const [version, counters, lists] = text.split(BETWEEN) as [string, string, string];
	const [rows, specs, events] = JSON.parse(lists) as Written;
	const insert = rows.map(([job, rank, level, age_at, ready_at, due_at]): JobRow => {
		const { id, parked_on: line, bucket, status, lane, batch = null } = job;
		return { id, line, bucket, rank, level, age_at, ready_at, due_at, status, lane, batch, job };
	});
	return { version: Number(version), counters: counters === "" ? null : counters, arrivals: { insert, specs, events } };
}
