// The store on PostgreSQL. Transactions of all hosts queue at one row, `head`, whose version counts commits: an optimistic commit names the version that it read,
// and is refused if another host has committed since. After a broken connection a writer finds its last transaction in the database.

import {
	type Begun,
	type Changes,
	type Intent,
	type Replies,
	StaleTransaction,
	type Store,
	type StoreRead,
} from "../../contracts/store.ts";
import { reply } from "../sql/reads.ts";
import { DatabaseClock } from "./clock.ts";
import { type Address, addressOf, type Connection, Lost, type Result } from "./connection.ts";
import { Counters } from "./counters.ts";
import { translate } from "./dialect.ts";
import { Foresight } from "./foresight.ts";
import { Line } from "./line.ts";
import { channelOf, openListener } from "./listener.ts";
import type { News } from "./news.ts";
import { IDLE_MS, PATIENCE_MS, type PostgresOptions, USUAL } from "./options.ts";
import { FEWEST, queryOf } from "./pages.ts";
import { prepareSchema } from "./prepare.ts";
import { STALE } from "./schema.ts";
import { CLOCK, HEAD, type Head, type Session, sessionOf } from "./session.ts";
import { Statements } from "./statement.ts";

/** After losing an optimistic commit, transactions take the lock first for this long. */
const CROWDED_MS = 1_000;

type Open = { version: number; failed: Promise<Result>[] };

export async function openPostgres(url: string, options: PostgresOptions): Promise<Store & { now(): number }> {
	const store = new PostgresStore(addressOf(url), options);
	await store.start();
	return store;
}

class PostgresStore implements Store {
	private readonly line: Line;
	private readonly listener: ReturnType<typeof openListener>;
	private readonly statements: Statements;
	private readonly foresight: Foresight;
	private readonly ask = (text: string, values: readonly unknown[]) => this.live().query(text, values);
	private readonly session: Session;
	/** The version that what was remembered rests on; null: unknown. */
	private known: number | null = null;
	/** The version that our own last commit has made. */
	private own: number | null = null;
	private readonly clock: DatabaseClock;
	/** As of that version. */
	private readonly counters = new Counters();
	private txn = 0;
	/** The transaction that has the lock; without one, what a guess wants to write. */
	private open: Open | undefined;
	/** Reads without the lock, as of one moment. */
	private looking = false;
	/** What it asks for has come with its first question, without the lock: it counts if no other writer has committed since. */
	private foreseen = false;
	private crowdedUntil = Number.NEGATIVE_INFINITY;
	private wanted: Changes[] = [];

	constructor(
		private readonly address: Address,
		private readonly options: PostgresOptions,
	) {
		const { writer, patienceMs = PATIENCE_MS } = options;
		this.foresight = new Foresight(address.schema);
		this.clock = new DatabaseClock(options.monotonic);
		this.statements = new Statements(address.schema, options.usual ?? USUAL, options.page ?? FEWEST);
		this.session = sessionOf(address.schema, options.idleMs ?? IDLE_MS);
		this.listener = openListener({ ...options, address, channel: channelOf(address), self: writer, patienceMs });
		const settings = `${this.session.settings} ${this.listener.settings}`;
		this.line = new Line(address, { patienceMs, name: `sluice ${writer}`, settings }, options, this.listener.reached);
	}

	async start(): Promise<void> {
		const prepare = async () => prepareSchema(await this.reach(), this.address);
		const again = (error: unknown) => (error instanceof Lost ? prepare() : Promise.reject(error));
		this.listener.start(await prepare().catch(again));
	}

	now(): number {
		return this.clock.now();
	}

	async begin(intent: Intent = "change"): Promise<Begun> {
		this.pass("begin");
		this.listener.begin();
		const { guess } = this.options;
		const news = this.listener.news(this.known);
		const promising = guess === "always" || (guess !== "never" && news !== undefined && this.clock.isSure());
		if (promising && this.known !== null) return this.told(news);
		const before = this.known;
		const connection = await this.reach();
		// Behind a pooler the settings that a read wants would have to be made each time.
		let way = this.lock;
		if (connection.direct && intent === "look") way = this.look;
		else if (connection.direct && guess !== "never" && this.options.monotonic() >= this.crowdedUntil) way = this.foresee;
		const { version, now } = await way.call(this, connection);
		return this.begun(version === before, now);
	}

	/** A fault injected here also cuts the connection, as the death of the process would. */
	private pass(point: string): void {
		try {
			this.options.fault?.(point);
		} catch (error) {
			this.line.alive?.cut();
			throw error;
		}
	}

	/** What was remembered still holds, together with what others have told since. */
	private told(news: readonly News[] = []): Begun {
		const last = news.at(-1);
		if (!last) return this.begun(true, this.now());
		this.known = last.version;
		// The records go with the first arrivals, because those jobs may be in a bucket that is new.
		const records = this.counters.learn(last.counters);
		this.foresight.note(last.arrivals.events);
		const arrivals = news.map((one, index) => ({ ...one.arrivals, records: index === 0 ? records : [] }));
		return { ...this.begun(true, this.now()), arrivals };
	}

	private begun = (fresh: boolean, now: number): Begun => (this.options.clock === "caller" ? { fresh } : { fresh, now });

	async read<R extends StoreRead>(request: R): Promise<Replies[R["read"]]> {
		if (this.looking && this.wanted.length > 0) throw this.outrun("a look has more to do");
		const coming = this.open || this.looking || (this.foreseen && this.wanted.length === 0) ? this.foresight.find(request) : undefined;
		const foreseen = coming && (await this.guarded(coming));
		if (foreseen !== undefined) return this.counters.amend(request, foreseen);
		const { text, values } = translate(queryOf(request), this.address.schema);
		const opening = this.open || this.looking ? undefined : this.openGuess();
		opening?.catch(() => {});
		// The lock and the question go out together.
		const answer = this.guarded(this.live().query(text, values));
		this.foresight.bringDocuments(request, this.ask);
		if (opening !== undefined) {
			answer.catch(() => {});
			await opening;
		}
		const found = reply(request, (await answer).rows) as Replies[R["read"]];
		if (request.read === "events") this.foresight.note(found as Replies["events"]);
		return this.counters.amend(request, found);
	}

	write(changes: Changes): void {
		this.pass("flush");
		if (this.open) this.send(changes);
		else this.wanted.push(changes);
	}

	async commit(): Promise<void> {
		this.pass("commit");
		if (this.looking) await this.commitLook();
		else if (this.open) await this.commitOpen(this.open);
		else if (this.wanted.length > 1) {
			await this.openGuess();
			await this.commitOpen(this.open as unknown as Open);
		} else if (this.wanted.length === 1) await this.commitGuess(this.wanted[0] as Changes);
		else if (this.foreseen) this.done(this.known);
		else await this.confirm();
		this.pass("committed");
	}

	async rollback(): Promise<void> {
		const wasOpen = this.open !== undefined || this.looking;
		this.done(null);
		const connection = this.line.alive;
		// If that fails, it is gone with its connection.
		if (wasOpen && connection) await connection.query("ROLLBACK").catch(() => connection.cut());
	}

	async close(): Promise<void> {
		const wasOpen = this.open !== undefined || this.looking;
		this.done(null);
		await Promise.all([this.line.close(wasOpen ? "cut" : "end"), this.listener.close()]);
	}

	listen(call: () => void): () => void {
		return this.listener.listen(call);
	}

	lead(): Promise<boolean> {
		return this.listener.lead();
	}

	// ---- with the lock --------------------------------------------------------------------------------------------------------------

	private async lock(connection: Connection): Promise<{ version: number; now: number }> {
		this.listener.asking();
		const asked = this.guarded(this.session.takeLock(connection));
		this.foresight.begin(this.ask).catch(() => {});
		const head = await asked;
		this.open = { version: head.version, failed: [] };
		return this.rest(head);
	}

	/** Without the lock, as long as hosts are seldom in each other's way: most that follow a notice read what is usual, and write once. */
	private async foresee(): Promise<{ version: number; now: number }> {
		this.listener.asking();
		const [[version, at, counters]] = (await this.guarded(this.foresight.begin(this.ask, HEAD))) as [[number, number, string | null]];
		this.foreseen = true;
		return this.rest({ version, at, counters });
	}

	/** What the transaction rests on. */
	private rest({ version, at, counters }: Head): { version: number; now: number } {
		this.known = version;
		this.counters.learn(counters);
		return { version, now: this.clock.learn(at) };
	}

	// ---- looking --------------------------------------------------------------------------------------------------------------------

	/** Everything as of one moment, and no other transaction has to wait for it. */
	private async look(connection: Connection): Promise<{ version: number; now: number }> {
		this.listener.asking();
		const asked = this.guarded(this.session.look(connection));
		this.foresight.begin(this.ask).catch(() => {});
		const head = await asked;
		this.looking = true;
		return this.rest(head);
	}

	/** What was read was so at that moment. What is to be written counts only if it still is. */
	private async commitLook(): Promise<void> {
		this.foresight.learn();
		this.live()
			.query("COMMIT")
			.catch(() => {});
		if (this.wanted.length > 1) throw this.outrun("a look has more to do");
		const [changes] = this.wanted;
		if (changes) await this.commitGuess(changes);
		else this.done(this.known);
	}

	/** What was guessed turns out to need the lock: it goes on only if no other writer has committed in between. */
	private async openGuess(): Promise<void> {
		const expected = this.known;
		const connection = this.live();
		const opened: Open = { version: expected as number, failed: [] };
		// In place before the answer comes: what follows is sent behind it, and fails with it.
		this.open = opened;
		const asked = this.guarded(this.session.takeLock(connection));
		for (const changes of this.wanted.splice(0)) this.send(changes);
		const { version, at } = await asked;
		this.clock.learn(at);
		if (version !== expected) throw this.overtaken();
	}

	/** Not waited for: the commit behind it tells. */
	private send(changes: Changes): void {
		const open = this.open as Open;
		this.foresight.forget();
		const alone = open.failed.length > 0 || open.version === this.own;
		const { text, values } = this.writing(changes, { expected: null, made: open.version + 1, alone });
		const sent = this.guarded(this.live().query(text, values));
		open.version++;
		sent.catch(() => {});
		open.failed.push(sent);
	}

	private async commitOpen(open: Open): Promise<void> {
		const wrote = open.failed.length > 0;
		this.foresight.learn();
		const committing = this.live().query("COMMIT");
		committing.catch(() => {});
		// Nothing was written, so the caller need not wait until the lock is released.
		if (!wrote) return this.done(open.version);
		try {
			// The first to fail says why.
			for (const one of open.failed) this.statements.answered(await one);
			const { command } = await committing;
			if (command !== "COMMIT") throw new Error(`assertion failed: the commit ended as ${command}`);
		} catch (error) {
			if (!wrote || !(error instanceof Lost || error instanceof StaleTransaction)) throw asOutrun(error);
			if (!(await this.wasCommitted())) throw asOutrun(error);
			return this.done(null);
		}
		this.committed(open.version);
	}

	private committed(version: number): void {
		this.listener.committed();
		this.own = version;
		this.done(version);
	}

	// ---- without it -----------------------------------------------------------------------------------------------------------------

	private async commitGuess(changes: Changes): Promise<void> {
		const expected = this.known as number;
		if (this.foreseen) this.foresight.learn();
		let result: Result;
		try {
			const { text, values } = this.writing(changes, { expected, made: expected + 1, alone: expected === this.own });
			const asked = this.live().query(text, values);
			// It has left by then.
			void Promise.resolve().then(this.listener.prepare);
			result = await asked;
		} catch (error) {
			if ((error as { code?: string }).code === STALE) throw this.overtaken();
			if (!(error instanceof Lost)) throw error;
			if (!(await this.wasCommitted())) throw this.outrun(error.message);
			this.done(null);
			return;
		}
		const [row] = result.rows;
		if (!row) throw this.overtaken();
		this.clock.learn(Number(row[0]));
		this.statements.answered(result);
		this.committed(expected + 1);
	}

	/** Nothing is to be written: what was answered from memory must still be so. */
	private async confirm(): Promise<void> {
		const { rows } = await this.guarded(this.live().query(`SELECT turn, ${CLOCK} FROM "${this.address.schema}".head`));
		this.clock.learn(Number(rows[0]?.[1]));
		if (Number(rows[0]?.[0]) !== this.known) throw this.overtaken();
		this.done(this.known);
	}

	/**
	 * `expected`: the version that it rests on, where the lock does not see to it; `alone`: that was our own commit. `made`: the version that it makes; should
	 * more follow with the lock, no host will ever find that version, and a host that was notified of it begins again.
	 */
	private writing(
		changes: Changes,
		{ expected, made, alone }: { expected: number | null; made: number; alone: boolean },
	): { text: string; values: unknown[] } {
		this.foresight.note(changes.events);
		this.txn++;
		const { writer } = this.options;
		const records = this.counters.take(changes.records);
		const counters = this.counters.text;
		const notice = this.listener.notice({ version: made, counters, changes, whole: records.length === 0 });
		return this.statements.find({ ...changes, records }, this.live().direct, { expected, writer, txn: this.txn, counters, notice, alone });
	}

	// ---- the connection -------------------------------------------------------------------------------------------------------------

	private live(): Connection {
		if (!this.line.alive) throw this.outrun("the connection is gone");
		return this.line.alive;
	}

	private async reach(): Promise<Connection> {
		if (!this.line.alive) this.known = null;
		return this.line.alive ?? this.line.reach();
	}

	/** Whether our last transaction made it, though the answer did not. */
	private async wasCommitted(): Promise<boolean> {
		const txn = this.txn;
		this.done(null);
		for (;;) {
			const connection = await this.reach();
			try {
				return (await this.session.last(connection, this.options.writer)) >= txn;
			} catch (error) {
				if (!(error instanceof Lost)) throw error;
			}
		}
	}

	/** What breaks the connection makes the transaction begin again. */
	private async guarded<T>(asked: Promise<T>): Promise<T> {
		try {
			return await asked;
		} catch (error) {
			if (error instanceof Lost) throw this.outrun(error.message);
			throw error;
		}
	}

	private done(version: number | null): void {
		this.open = undefined;
		this.looking = this.foreseen = false;
		this.foresight.forget();
		this.wanted = [];
		this.known = version;
	}

	private overtaken(): StaleTransaction {
		this.crowdedUntil = this.options.monotonic() + CROWDED_MS;
		return this.outrun("somebody else has committed");
	}

	private outrun(why: string): StaleTransaction {
		this.known = null;
		return new StaleTransaction(why);
	}
}

const asOutrun = (error: unknown): unknown => (error instanceof Lost ? new StaleTransaction(error.message) : error);
