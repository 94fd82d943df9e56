// What notices do on PostgreSQL, between the processes of a simulated run and the SQLite file they share: whoever begins is told what others have
// added since, where that is all they did, and goes on with what it remembers.

import type { OpenOptions, Scheduler } from "../../src/contracts/scheduler.ts";
import type { Arrivals, Begun, Changes, Store } from "../../src/contracts/store.ts";
import { isOnLock } from "../../src/core/parked.ts";
import { createScheduler } from "../../src/scheduler/library/index.ts";
import { checkOpen } from "../../src/scheduler/library/input.ts";
import { onlyAdds } from "../../src/stores/postgres/news.ts";
import { openSqlite } from "../../src/stores/sqlite/store.ts";
import type { Marks } from "../marks.ts";

type Own = OpenOptions & Required<Pick<OpenOptions, "path" | "clock" | "host" | "chance" | "fault">>;

export class Notices {
	/** What each commit has told, in their order, as text: whoever hears it has its own copy. undefined: not what it did. */
	private readonly told: (string[] | undefined)[] = [];

	constructor(private readonly marks: Marks) {}

	/** As `openScheduler`, with the notices in between. */
	async open(options: Own): Promise<Scheduler> {
		const { path, clock, host, chance, fault, ...rest } = checkOpen(options) as Own;
		const store = this.between(openSqlite(path, { fault }));
		try {
			return await createScheduler(rest, { store, clock, host, chance });
		} catch (error) {
			await store.close();
			throw error;
		}
	}

	private between(store: Store): Store {
		const { told } = this;
		/** How many commits are in what this process remembers; undefined: it remembers nothing. */
		let known: number | undefined;
		let wrote: (string | undefined)[] = [];
		return {
			...store,
			begin: () => {
				const { fresh } = store.begin() as Begun;
				const arrivals = fresh ? [] : this.since(known);
				wrote = [];
				known = told.length;
				if (fresh || arrivals === undefined) return { fresh };
				this.note(arrivals);
				return { fresh: true, arrivals };
			},
			write(changes) {
				store.write(changes);
				wrote.push(noticeOf(changes));
			},
			commit() {
				const mine = told.length;
				// Whoever dies from here on may have committed, and has told nobody.
				if (wrote.length > 0) told.push(undefined);
				store.commit();
				if (wrote.length > 0 && wrote.every((one) => one !== undefined)) told[mine] = wrote;
				known = told.length;
			},
			rollback() {
				known = undefined;
				store.rollback();
			},
		};
	}

	/** undefined: somebody has done more than to add, or is not one of those who tell. */
	private since(known = this.told.length): Arrivals[] | undefined {
		const news = this.told.slice(known);
		return news.length > 0 && news.every((one) => one !== undefined) ? news.flat().map((text) => JSON.parse(text)) : undefined;
	}

	private note(arrivals: readonly Arrivals[]): void {
		this.marks.hit("told:arrivals");
		if (arrivals.length > 1) this.marks.hit("told:several");
		if (arrivals.some(({ insert }) => insert.some(({ line }) => isOnLock(line)))) this.marks.hit("told:waits-for-lock");
	}
}

function noticeOf(changes: Changes): string | undefined {
	if (!onlyAdds(changes)) return undefined;
	const { insert, specs, events, records } = changes;
	return JSON.stringify({ insert, specs, events, records } satisfies Arrivals);
}
