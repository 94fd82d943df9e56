// Lets plainjob run on the same SQLite driver as we do: the part of better-sqlite3's interface that it calls, over node:sqlite's.

import { DatabaseSync } from "@photostructure/sqlite";
import type { Connection } from "plainjob";

export function betterLike(path: string): Connection {
	const db = new DatabaseSync(path);
	const inTransaction = (begin: string, work: () => unknown) => {
		db.exec(begin);
		try {
			const result = work();
			db.exec("COMMIT");
			return result;
		} catch (error) {
			db.exec("ROLLBACK");
			throw error;
		}
	};
	const transaction = (fn: (...args: unknown[]) => unknown) =>
		Object.assign((...args: unknown[]) => inTransaction("BEGIN", () => fn(...args)), {
			immediate: (...args: unknown[]) => inTransaction("BEGIN IMMEDIATE", () => fn(...args)),
		});
	return {
		driver: "better-sqlite3",
		filename: path,
		pragma: (text: string) => db.exec(`PRAGMA ${text}`),
		exec: (text: string) => db.exec(text),
		prepare: (text: string) => db.prepare(text),
		transaction,
		close: () => db.close(),
	} as unknown as Connection;
}
