// Opens SQLite: Node's own where it is new enough, else the package with the same interface. Older versions of SQLite can corrupt a WAL that two connections
// use.

import { createRequire } from "node:module";
import { SluiceError } from "../../core/errors.ts";

export type PreparedStatement = {
	run(...params: unknown[]): unknown;
	/** `Row`: the columns that the statement selects. */
	all<Row = unknown>(...params: unknown[]): Row[];
	setReturnArrays(on: boolean): void;
	[Symbol.dispose]?(): void;
};
export type Database = { exec(sql: string): void; prepare(sql: string): PreparedStatement; close(): void };
type Module = { DatabaseSync: new (path: string, options?: Record<string, unknown>) => Database };

export const OLDEST_SQLITE = "3.51.3";

export function newEnough(version: string, oldest: string = OLDEST_SQLITE): boolean {
	const [have, want] = [version, oldest].map((text) => text.split(".").map(Number));
	for (let index = 0; index < 3; index++) {
		const difference = (have?.[index] ?? 0) - (want?.[index] ?? 0);
		if (difference !== 0) return difference > 0;
	}
	return true;
}

const require = createRequire(import.meta.url);

function load(name: string): Module | undefined {
	try {
		return require(name);
	} catch {
		return undefined;
	}
}

/** Runs a query once. A row is the array of its columns. */
export function select<Row extends readonly unknown[]>(database: Database, sql: string): Row[] {
	const statement = database.prepare(sql);
	statement.setReturnArrays(true);
	return statement.all<Row>();
}

export const versionOf = (database: Database): string => String(select<[string]>(database, "SELECT sqlite_version()")[0]?.[0]);

let chosen: Module | undefined;

function driver(): Module {
	if (chosen) return chosen;
	const seen: string[] = [];
	for (const name of ["node:sqlite", "@photostructure/sqlite"]) {
		const module = load(name);
		if (!module) continue;
		const probe = new module.DatabaseSync(":memory:");
		const version = typeof probe.prepare("SELECT 1").setReturnArrays === "function" ? versionOf(probe) : "too old an interface";
		probe.close();
		if (newEnough(version)) {
			chosen = module;
			return module;
		}
		seen.push(`${name} has ${version}`);
	}
	throw new SluiceError("store", `SQLite ${OLDEST_SQLITE} or newer is needed${seen.length > 0 ? `: ${seen.join(", ")}` : ""}`, {
		hint: "run npm install, or use Node 22.23, 24.21 or newer",
	});
}

export const openDatabase = (path: string, options: { readOnly?: boolean } = {}): Database => new (driver().DatabaseSync)(path, options);
