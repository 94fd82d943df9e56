// Questions that go out before they are asked. A transaction that remembers nothing asks much the same as the one before it: those questions go
// out with its first, all in one, and the heads of a line bring their documents along. Each answer saves a journey. They hold until something is
// written in the same transaction.

import type { Replies, StoreRead } from "../../contracts/store.ts";
import { STORED } from "../sql/document.ts";
import { type Query, query, reply } from "../sql/reads.ts";
import { translate } from "./dialect.ts";
import { queryOf } from "./pages.ts";
import { type Part, together } from "./together.ts";

type Ask = (text: string, values: readonly unknown[]) => Promise<{ rows: unknown[][] }>;
type ById = Promise<Map<number, unknown[]>>;

/** Questions that are remembered, and heads whose documents come along. */
const USUAL = 4;
const HEADS = 16;

export class Foresight {
	private usual: StoreRead[] = [];
	private asked: StoreRead[] = [];
	private readonly answers = new Map<string, Promise<unknown>>();
	/** The newest event that this host knows of: it will ask for those after it. */
	private newest = 0;
	private documents: { job: ById; spec: ById; most: number } | undefined;

	constructor(private readonly schema: string) {}

	/** Sends what the last one asked for, and `first`; tells the answer to that. */
	async begin(ask: Ask, first?: Part): Promise<unknown[][]> {
		this.forget();
		this.asked = [];
		const parts: Part[] = first ? [first] : [];
		const places = new Map<string, { request: StoreRead; at: number }>();
		let documents: number | undefined;
		for (const usual of this.usual) {
			const request = usual.read === "events" ? { ...usual, since: this.newest } : usual;
			places.set(JSON.stringify(request), { request, at: parts.length });
			parts.push({ ...queryOf(request), columns: COLUMNS[request.read as Usual] });
			if (documents !== undefined || !bringsDocuments(request)) continue;
			documents = parts.length;
			parts.push({ ...headsOf(request, "job"), columns: "tntnttn" }, { ...headsOf(request, "spec"), columns: "nt" });
		}
		if (parts.length === 0) return [];
		const { split, ...combined } = together(parts);
		const { text, values } = translate(combined, this.schema);
		const answer = ask(text, values).then(({ rows }) => split(rows));
		answer.catch(() => {});
		for (const [key, { request, at }] of places) {
			const found = answer.then((parts) => {
				const found = reply(request, parts[at] as unknown[][]);
				if (request.read === "events") this.note(found as Replies["events"]);
				return found;
			});
			found.catch(() => {});
			this.answers.set(key, found);
		}
		if (documents !== undefined) {
			const at = documents;
			this.documents = { job: byId(answer, at, 1), spec: byId(answer, at + 1, 0), most: HEADS };
		}
		return (await answer)[0] as unknown[][];
	}

	/** The answer, if it is on its way; undefined if it is not, or turns out to lack something. */
	find<R extends StoreRead>(request: R): Promise<Replies[R["read"]] | undefined> | undefined {
		if (this.asked.length < USUAL && isUsual(request)) this.asked.push(request);
		let answer: Promise<unknown> | undefined;
		if (request.read === "jobs" || request.read === "specs") answer = this.fromDocuments(request);
		else if (isUsual(request)) answer = this.answers.get(JSON.stringify(request));
		return answer as Promise<Replies[R["read"]] | undefined> | undefined;
	}

	/** Events that this host has read or written. */
	note(events: readonly { seq: number }[]): void {
		this.newest = Math.max(this.newest, events[events.length - 1]?.seq ?? 0);
	}

	/** Prefetch: a transaction that reads the heads of a line wants their documents next; one that reads documents wants their specs. */
	bringDocuments(request: StoreRead, ask: Ask): void {
		const send = (query: Query, key: number): ById => {
			const { text, values } = translate(query, this.schema);
			const answer = ask(text, values).then(({ rows }) => [rows]);
			return byId(answer, 0, key);
		};
		if (bringsDocuments(request)) {
			this.documents = { job: send(headsOf(request, "job"), 1), spec: send(headsOf(request, "spec"), 0), most: HEADS };
		} else if (request.read === "jobs" && request.specs) {
			const spec = send(query({ read: "specs", ids: request.ids }), 0);
			this.documents = { job: Promise.resolve(new Map()), spec, most: request.ids.length };
		}
	}

	/** Something was written, or the transaction is over. */
	forget(): void {
		this.answers.clear();
		this.documents = undefined;
	}

	/** The transaction is over; the next one that remembers nothing will ask the same. */
	learn(): void {
		if (this.asked.length > 0) this.usual = this.asked;
		this.asked = [];
	}

	private fromDocuments(request: Extract<StoreRead, { ids: readonly number[] }>): Promise<unknown> | undefined {
		const { documents } = this;
		if (!documents || request.ids.length > documents.most) return undefined;
		return (request.read === "jobs" ? documents.job : documents.spec).then((found) => {
			const rows = request.ids.flatMap((id) => {
				const row = found.get(id);
				return row ? [row] : [];
			});
			return rows.length === request.ids.length ? reply(request, rows) : undefined;
		});
	}
}

type Usual = "standing" | "next_due" | "events" | "line";
/** Numbers and texts, in the order of what they select. */
const COLUMNS: Record<Usual, string> = { standing: "ttt", next_due: "n", events: "nntntt", line: "nnnnn" };

/** Reads that depend on no earlier read. */
const isUsual = (request: StoreRead): boolean => request.read in COLUMNS && (request.read !== "line" || (!request.after && !request.below));

const bringsDocuments = (request: StoreRead): request is Extract<StoreRead, { read: "line" }> =>
	request.read === "line" && request.line === "";

/** What the first of a line have in a table. */
function headsOf(request: Extract<StoreRead, { read: "line" }>, table: "job" | "spec"): Query {
	const { sql, params } = query({ ...request, limit: Math.min(HEADS, request.limit) });
	const heads = sql.replace(/^SELECT .*? FROM/, "SELECT id FROM");
	const columns = table === "job" ? STORED.job : "id, body";
	return { sql: `SELECT ${columns} FROM ${table} WHERE id IN (${heads})`, params };
}

function byId(answer: Promise<unknown[][][]>, at: number, key: number): ById {
	const found = answer.then((parts) => new Map((parts[at] as unknown[][]).map((row) => [row[key] as number, row])));
	found.catch(() => {});
	return found;
}
