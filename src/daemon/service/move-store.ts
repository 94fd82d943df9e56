// Moves a home's queue to another store, and back, without a daemon: opens both stores and keeps daemons away from them meanwhile.

import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { MoveDocument, MoveRequest } from "../../api/daemon-module.ts";
import { assert, orElse, SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { isDatabase } from "../../core/text/store-address.ts";
import { systemClock } from "../../host/local.ts";
import { secret } from "../../host/secret.ts";
import { addressOf } from "../../stores/address.ts";
import { openDatabaseEnd } from "../../stores/moving/database-end.ts";
import { openFileEnd } from "../../stores/moving/file-end.ts";
import { inUse, type MoveOptions, move, type Objection, objections, type Side } from "../../stores/moving/move.ts";
import { type Survey, survey } from "../../stores/moving/survey.ts";
import { prepareHome } from "./home.ts";
import { takeLock } from "./lock.ts";

/** `home`: the home whose lock is taken to keep its daemon away. */
type Place = { kind: "database"; url: string } | { kind: "file"; path: string; home: string | null };

export async function moveStore({ check, replace, again, progress, ...ends }: MoveRequest): Promise<MoveDocument> {
	const places = { from: placeOf(ends.from, "from"), to: placeOf(ends.to, "to") };
	if (nameOf(places.from) === nameOf(places.to)) throw new SluiceError("invalid", "both are the same store", { field: "to" });
	const how: Pick<MoveOptions, "target" | "source"> = { target: replace ? "replace" : "empty", source: again ? "again" : "once" };
	// Check before creating anything, so that a refusal leaves no trace.
	const found = await closing((undo) => look(places, how, undo));
	if (check) return found;
	const [first] = found.objections;
	if (first) throw new SluiceError(first.code, first.message, { hint: first.hint });
	return closing(async (undo) => {
		const from = await open(places.from, "use", undo);
		const to = await open(places.to, "make", undo);
		assert(from && to, "a store that is used or made is open");
		const { rows, replaced, marked } = await move(from, to, { ...how, ...given({ progress }) });
		const names = { from: from.end.display, to: to.end.display };
		return { schema_version: 1, moved: true, ...names, jobs: jobsIn(rows, 0), rows, replaced, marked, objections: [] };
	});
}

/** Runs the body, then closes what it opened, in reverse order. */
async function closing<T>(body: (undo: (() => unknown)[]) => Promise<T>): Promise<T> {
	const undo: (() => unknown)[] = [];
	try {
		return await body(undo);
	} finally {
		for (const call of undo.reverse()) await call();
	}
}

async function look(
	places: { from: Place; to: Place },
	how: Pick<MoveOptions, "target" | "source">,
	undo: (() => unknown)[],
): Promise<MoveDocument> {
	const found: Objection[] = [];
	const seen = async (place: Place): Promise<{ display: string; survey: Survey } | null> => {
		let side: Side | null = null;
		try {
			side = await open(place, "look", undo);
		} catch (error) {
			if (!(error instanceof SluiceError) || error.code !== "conflict") throw error;
			found.push({ ...inUse(nameOf(place)), message: error.message, hint: error.hint ?? "" });
			side = await open({ ...place, home: null } as Place, "look", undo);
		}
		return side === null ? null : { display: side.end.display, survey: await survey(side.end, side.held) };
	};
	const [from, to] = [await seen(places.from), await seen(places.to)];
	if (from === null) throw new SluiceError("not_found", `there is no store at ${nameOf(places.from)}`, { field: "from" });
	found.push(...objections({ from, to }, how));
	const { rows, running } = from.survey;
	return {
		schema_version: 1,
		moved: false,
		from: from.display,
		to: to?.display ?? nameOf(places.to),
		jobs: jobsIn(rows, running.count),
		rows,
		replaced: false,
		marked: false,
		objections: found,
	};
}

const jobsIn = ({ job = 0, done = 0 }: Record<string, number>, running: number) => ({ waiting: job - running, running, ended: done });

async function open(place: Place, purpose: "look" | "use" | "make", undo: (() => unknown)[]): Promise<Side | null> {
	if (place.kind === "database") {
		const end = await openDatabaseEnd(place.url, purpose, `move ${secret(9)}`);
		if (end) undo.push(() => end.close());
		return end && { end, held: null };
	}
	if (place.home !== null && purpose === "make") prepareHome(place.home);
	const [lock, record] = place.home === null ? [null, ""] : [join(place.home, "lock.db"), join(place.home, "daemon.json")];
	if (lock !== null && (purpose !== "look" || existsSync(lock))) {
		const taken = takeLock(lock, record);
		undo.push(() => taken.release());
	}
	const end = openFileEnd(place.path, purpose, systemClock.now);
	if (end) undo.push(() => end.close());
	return end && { end, held: place.home === null ? null : tagOf(place.home) };
}

function placeOf(text: string, field: string): Place {
	if (isDatabase(text)) return { kind: "database", url: text };
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
		throw new SluiceError("invalid", `${JSON.stringify(text.replace(/:.*/s, "://…"))} is no kind of store`, {
			field,
			hint: "a home, a SQLite file, or postgres://user@host:5432/database",
		});
	const stat = statSync(text, { throwIfNoEntry: false });
	// A path that does not exist yet is a file if it has a database's extension, else a home.
	if (stat ? stat.isDirectory() : !/\.(?:db|sqlite3?)$/.test(text)) return { kind: "file", path: join(text, "sluice.db"), home: text };
	const folder = dirname(text);
	const isHomes = basename(text) === "sluice.db" && existsSync(join(folder, "lock.db"));
	return { kind: "file", path: text, home: isHomes ? folder : null };
}

function nameOf(place: Place): string {
	if (place.kind === "file") return existsSync(place.path) ? realpathSync(place.path) : place.path;
	const { display, schema } = addressOf(place.url);
	return schema === "sluice" ? display : `${display} (schema ${schema})`;
}

const tagOf = (home: string): string | null => orElse(() => readFileSync(join(home, "tag"), "utf8").trim(), null);
