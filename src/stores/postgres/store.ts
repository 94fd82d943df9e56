// The leader's store on PostgreSQL, for one term. No other process writes scheduling tables while the term lasts, so nothing is locked or read again: reads go
// out without a transaction, and a transaction is one round trip:
//
//   write     BEGIN, the fence, the rows      sent and not waited for; a read behind them waits for its own answer only
//   commit    statements with it, COMMIT      sent; then all answers are awaited
//
// The fence is an UPDATE of `head` that fails unless the epoch is still this term's: then PostgreSQL refuses everything behind it, the COMMIT as well.

import {
	type Begun,
	type Changes,
	RefusedValue,
	type Replies,
	StaleTransaction,
	type Store,
	type StoreRead,
	TermOver,
} from "../../contracts/store.ts";
import { codeOf, messageOf } from "../../core/errors.ts";
import { query, reply } from "../sql/reads.ts";
import { writes } from "../sql/writes.ts";
import type { DatabaseClock } from "./clock.ts";
import { type Connection, Lost, type QueryResult } from "./connection.ts";
import { translate, translateWrite } from "./dialect.ts";
import { CLOCK } from "./schema.ts";

export type TermOptions = {
	schema: string;
	epoch: number;
	/** The last committed transaction when the term began. */
	txn: number;
	/** What `begin` gives as the time. Without it the caller's own clock counts. */
	clock?: DatabaseClock | undefined;
	/** Called at `begin`, `flush`, `commit` and `committed`; may throw, as a crash would, and the connection is cut. For the simulator. */
	fault?: ((point: string) => void) | undefined;
};

/** A statement that a commit carries out in its transaction. `rows`: how many rows it must touch; it is then an INSERT, UPDATE or DELETE without RETURNING. */
export type Attached = { text: string; values: readonly unknown[]; rows?: number };

const DIVISION_BY_ZERO = "22012";
/** SQLSTATE of values that PostgreSQL does not take: the caller's data is wrong, not what the leader remembers. */
const BAD_DATA = /^(?:22|54)/;
/** SQLSTATE of a deadlock or a serialization failure. */
const CONFLICT = /^40/;

export class PostgresStore implements Store {
	private hasBegun = false;
	private over: TermOver | undefined;
	/** The answers to what the open transaction has sent, in order. */
	private sent: Promise<QueryResult>[] = [];
	private txn: number;
	private readonly fence: string;

	/** The store ends the connection when it is closed. */
	constructor(
		protected readonly connection: Connection,
		private readonly options: TermOptions,
	) {
		this.txn = options.txn;
		this.fence = `WITH fence AS (UPDATE "${options.schema}".head SET txn = $1 WHERE epoch = $2 AND txn = $1 - 1 RETURNING 1) SELECT ${CLOCK}, 1 / count(*)::int FROM fence`;
	}

	begin(): Begun {
		this.pass("begin");
		this.demandTerm();
		const fresh = this.hasBegun;
		this.hasBegun = true;
		const { clock } = this.options;
		return clock ? { fresh, now: clock.now() } : { fresh };
	}

	async read<R extends StoreRead>(request: R): Promise<Replies[R["read"]]> {
		this.demandTerm();
		const { text, values } = translate(query(request), this.options.schema);
		try {
			return reply(request, (await this.connection.query(text, values)).rows);
		} catch (error) {
			throw await this.readFailed(error);
		}
	}

	write(changes: Changes): void {
		this.pass("flush");
		this.demandTerm();
		this.open();
		for (const write of writes(changes)) {
			const { text, values } = translateWrite(write, this.options.schema);
			this.send(this.connection.query(text, values));
		}
	}

	commit(): Promise<void> {
		return this.commitWith([]);
	}

	/** Commits, and carries out these statements in the same transaction. */
	async commitWith(statements: readonly Attached[]): Promise<void> {
		this.pass("commit");
		this.demandTerm();
		if (this.sent.length > 0 || statements.length > 0) await this.commitOpen(statements);
		this.pass("committed");
	}

	async rollback(): Promise<void> {
		if (this.sent.length === 0) return;
		this.sent = [];
		if (!this.over && this.connection.alive) await this.connection.query("ROLLBACK").catch((error) => this.endTerm(error, "not sent"));
	}

	async close(): Promise<void> {
		this.over ??= new TermOver("the store was closed", { doubt: false, txn: this.txn });
		if (this.sent.length > 0) this.connection.cut();
		else await this.connection.end();
	}

	private async commitOpen(statements: readonly Attached[]): Promise<void> {
		this.open();
		for (const one of statements) this.send(this.attachedAnswer(one));
		const committing = this.connection.query("COMMIT");
		committing.catch(() => {});
		const sent = this.sent;
		this.sent = [];
		try {
			// In order: the first failure is the cause of those behind it.
			for (const answer of sent) await answer;
			const { command } = await committing;
			if (command !== "COMMIT") throw new Error(`assertion failed: the commit ended as ${command}`);
		} catch (error) {
			throw this.failed(error, "sent");
		}
		this.txn++;
	}

	/** BEGIN and the fence, if they are not sent yet. */
	private open(): void {
		if (this.sent.length > 0) return;
		this.send(this.connection.query("BEGIN"));
		const { clock, epoch } = this.options;
		const fenced = this.connection.query(this.fence, [this.txn + 1, epoch]).then(
			(answer) => {
				clock?.learn(Number(answer.rows[0]?.[0]));
				return answer;
			},
			(error) => {
				throw codeOf(error) === DIVISION_BY_ZERO ? this.endTerm("another process leads", "not sent") : error;
			},
		);
		this.send(fenced);
	}

	private send(answer: Promise<QueryResult>): void {
		// Reported by `commit`, or by a read behind it.
		answer.catch(() => {});
		this.sent.push(answer);
	}

	private attachedAnswer({ text, values, rows }: Attached): Promise<QueryResult> {
		if (rows === undefined) return this.connection.query(text, values);
		const counted = `WITH touched AS (${text} RETURNING 1) SELECT 1 / (count(*) = $${values.length + 1}::bigint)::int FROM touched`;
		return this.connection.query(counted, [...values, rows]).catch((error) => {
			throw codeOf(error) === DIVISION_BY_ZERO ? new StaleTransaction("an attached statement touched another number of rows") : error;
		});
	}

	/** A read fails as well when a write before it was refused: that one is the cause. */
	private async readFailed(error: unknown): Promise<unknown> {
		try {
			for (const answer of this.sent) await answer;
		} catch (cause) {
			return this.failed(cause, "not sent");
		}
		return error instanceof Lost ? this.endTerm(error, "not sent") : error;
	}

	/** What to throw for an error of a transaction. Nothing of it is left, unless it is a TermOver in doubt. */
	private failed(error: unknown, commit: "sent" | "not sent"): unknown {
		if (error instanceof StaleTransaction || error instanceof TermOver) return error;
		if (BAD_DATA.test(codeOf(error)))
			return new RefusedValue("store", messageOf(error), {
				hint: "shorten the value, or leave out what PostgreSQL cannot store",
				cause: error,
			});
		if (CONFLICT.test(codeOf(error))) return new StaleTransaction(messageOf(error));
		return this.endTerm(error, commit);
	}

	private endTerm(why: unknown, commit: "sent" | "not sent"): TermOver {
		const doubt = commit === "sent" && why instanceof Lost;
		this.over ??= new TermOver(messageOf(why), { doubt, txn: this.txn + 1, cause: why });
		this.connection.cut();
		return this.over;
	}

	private demandTerm(): void {
		if (!this.over && !this.connection.alive) this.endTerm("the connection is lost", "not sent");
		if (this.over) throw this.over;
	}

	private pass(point: string): void {
		try {
			this.options.fault?.(point);
		} catch (error) {
			this.connection.cut();
			throw error;
		}
	}
}
