// Questions that go out before they are asked. A transaction that begins with the lock and remembers nothing asks much the same as the one before
// it: those questions go out together with the one for the lock, and the heads of a line bring their documents along. Each answer saves a journey
// with the lock held. They hold until something is written in the same transaction.

import type { Read, Replies } from "../../store.ts";
import { query, reply } from "../sql/reads.ts";
import { translate } from "./dialect.ts";

type Ask = (text: string, values: readonly unknown[]) => Promise<{ rows: unknown[][] }>;
type ById = Promise<Map<number, unknown[]>>;

/** Questions that are remembered, and heads whose documents come along. */
const USUAL = 4;
const HEADS = 16;

export class Foresight {
	private usual: Read[] = [];
	private asked: Read[] = [];
	private readonly answers = new Map<string, Promise<unknown>>();
	/** The newest event that this host knows of: it will ask for those after it. */
	private newest = 0;
	private documents: { job: ById; spec: ById } | undefined;

	constructor(private readonly schema: string) {}

	/** Sends what the last one asked for. */
	begin(ask: Ask): void {
		this.forget();
		this.asked = [];
		for (const usual of this.usual) {
			const request = usual.read === "events" ? { ...usual, since: this.newest } : usual;
			const { text, values } = translate(query(request), this.schema);
			const answer = ask(text, values).then(({ rows }) => {
				const found = reply(request, rows);
				if (request.read === "events") this.note(found as Replies["events"]);
				return found;
			});
			answer.catch(() => {});
			this.answers.set(JSON.stringify(request), answer);
			this.bringDocuments(request, ask);
		}
	}

	/** The answer, if it is on its way; undefined if it is not, or turns out to lack something. */
	find<R extends Read>(request: R): Promise<Replies[R["read"]] | undefined> | undefined {
		if (this.asked.length < USUAL && isUsual(request)) this.asked.push(request);
		const answer =
			request.read === "jobs" || request.read === "specs" ? this.fromDocuments(request) : this.answers.get(JSON.stringify(request));
		return answer as Promise<Replies[R["read"]] | undefined> | undefined;
	}

	/** Events that this host has read or written. */
	note(events: readonly { seq: number }[]): void {
		this.newest = Math.max(this.newest, events[events.length - 1]?.seq ?? 0);
	}

	/** A line is asked for: whoever looks at its heads wants their documents next. */
	bringDocuments(request: Read, ask: Ask): void {
		if (request.read !== "line" || request.line !== "") return;
		const { sql, params } = query({ ...request, limit: Math.min(HEADS, request.limit) });
		const heads = sql.replace(/^SELECT .*? FROM/, "SELECT id FROM");
		const byId = (table: string, columns: string, key: number): ById => {
			const { text, values } = translate({ sql: `SELECT ${columns} FROM ${table} WHERE id IN (${heads})`, params }, this.schema);
			const found = ask(text, values).then(({ rows }) => new Map(rows.map((row) => [row[key] as number, row])));
			found.catch(() => {});
			return found;
		};
		this.documents = { job: byId("job", "doc, id, line, bucket, status, lane", 1), spec: byId("spec", "id, body", 0) };
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

	private fromDocuments(request: Extract<Read, { ids: readonly number[] }>): Promise<unknown> | undefined {
		const { documents } = this;
		if (!documents || request.ids.length > HEADS) return undefined;
		return (request.read === "jobs" ? documents.job : documents.spec).then((found) => {
			const rows = request.ids.flatMap((id) => {
				const row = found.get(id);
				return row ? [row] : [];
			});
			return rows.length === request.ids.length ? reply(request, rows) : undefined;
		});
	}
}

/** Those that depend on nothing that was read before. */
const isUsual = (request: Read): boolean =>
	request.read === "standing" ||
	request.read === "next_due" ||
	request.read === "events" ||
	(request.read === "line" && !request.after && !request.below);
