// The simulator in a store that is moved whenever its only host comes back: SQLite to PostgreSQL, and back again. The model knows nothing of it.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { SluiceError } from "../src/core/errors.ts";
import { moveStore } from "../src/daemon/service/move-store.ts";
import { type Server, startServer } from "../test/make/stores/postgres-server.ts";
import { endSessions, type Place, sqlitePlace } from "./engine/place.ts";
import { runSeed } from "./run-seed.ts";
import { planFor } from "./workload.ts";

/** So many moves are seen, in as many seeds as it takes. */
const MOVES = 4;

let server: Server;
let folder: string;
let admin: pg.Client;
beforeAll(async () => {
	server = await startServer();
	admin = new pg.Client({ connectionString: server.url() });
	await admin.connect();
	folder = mkdtempSync(join(tmpdir(), "sluice-moving-"));
});
afterAll(async () => {
	await admin?.end();
	server?.end();
	rmSync(folder, { recursive: true, force: true });
});

function movingPlace(seed: number, moves: { done: number; refused: number }): Place {
	const ends = [join(folder, `${seed}.db`), `${server.url()}?schema=seed_${seed}`];
	let at = 0;
	let opened = false;
	return {
		async options() {
			const [from = "", to = ""] = at === 0 ? ends : [...ends].reverse();
			if (opened)
				try {
					await moveStore({ from, to, check: false, replace: true, again: false });
					at = 1 - at;
					moves.done++;
				} catch (error) {
					// A host that died left runs behind: then it stays where it is.
					if (!(error instanceof SluiceError) || !/running/.test(error.message)) throw error;
					moves.refused++;
				}
			opened = true;
			return at === 0 ? { path: ends[0] as string } : { url: ends[1] as string };
		},
		bury: () => endSessions(admin),
		trouble: (fault) => (at === 0 ? sqlitePlace("memory").trouble(fault) : undefined),
		end: async () => {},
	};
}

describe("simulation in a store that is moved", () => {
	it("stays clean", { timeout: 300_000 }, async () => {
		const moves = { done: 0, refused: 0 };
		const bad: string[] = [];
		for (let seed = 1; moves.done < MOVES && seed < 100; seed++) {
			if (planFor(seed).hosts.length !== 1) continue;
			const { failure } = await runSeed(seed, { place: () => movingPlace(seed, moves) });
			if (failure !== undefined) bad.push(`seed ${seed}, ${failure.message}`);
		}
		expect(bad).toEqual([]);
		expect(moves.done).toBeGreaterThanOrEqual(MOVES);
	});
});
