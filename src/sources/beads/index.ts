// Beads: through the program `bd` if it is installed, else read-only from `.beads/issues.jsonl`. Which issues are ready is computed on each request.

import type { Clock } from "../../contracts/host.ts";
import type { Change, Item, Source, SourceSettings, Written } from "../../contracts/source.ts";
import { SluiceError } from "../../core/errors.ts";
import * as check from "../../core/input/check.ts";
import type { Bd } from "./bd.ts";
import { isClosed, takenBy } from "./issue.ts";
import { createReading } from "./reading.ts";
import { judged, type Snapshot } from "./snapshot.ts";

export type BeadsParts = {
	bd: Bd;
	clock: Clock;
	/** The other beads sources: convoys, parents and blockers may be in other databases. */
	others: () => BeadsSource[];
};

export type BeadsSource = Source & {
	/** A snapshot whose reading began at `since` (monotonic) or later. */
	look(since: number): Promise<Snapshot>;
};

/** Reading through bd starts programs: callers that only poll share a snapshot for this long. */
const SHARED_MS = 3000;

export function openBeads(name: string, settings: SourceSettings, { bd, clock, others }: BeadsParts): BeadsSource {
	const readAll = createReading(name, settings.root, bd);
	let known: { snapshot: Snapshot; began: number } | undefined;
	let reading: { began: number; snapshot: Promise<Snapshot> } | undefined;

	async function look(since: number): Promise<Snapshot> {
		while (known === undefined || known.began < since) {
			// A reading that began too early is awaited first: two at once would only be slower.
			if (reading && reading.began < since) await reading.snapshot.catch(() => {});
			else await (reading ?? begin()).snapshot;
		}
		return known.snapshot;
	}

	function begin(): { snapshot: Promise<Snapshot> } {
		const began = clock.monotonic();
		const snapshot = readAll()
			.then((found) => {
				known = { snapshot: found, began };
				return found;
			})
			.finally(() => {
				reading = undefined;
			});
		reading = { began, snapshot };
		return reading;
	}

	/** A database that cannot be read is left out for issues of other databases. */
	async function elsewhere(since: number): Promise<Snapshot[]> {
		const found = await Promise.all(others().map((one) => one.look(since).catch(() => undefined)));
		return found.flatMap((one) => one ?? []);
	}

	async function read(id: string, since: { own: number; others: number }): Promise<Item | null> {
		const snapshot = await look(since.own);
		const issue = snapshot.issues.get(id);
		if (issue) return judged(name, issue, snapshot, await elsewhere(since.others), clock.now());
		const wrong = snapshot.faults.find((one) => one.id === id);
		if (wrong) throw new SluiceError("invalid", wrong.message, { field: "item", hint: wrong.hint ?? undefined });
		return null;
	}

	return {
		name,
		settings,
		look,
		async scan() {
			const now = clock.monotonic();
			const [snapshot, rest] = await Promise.all([look(now), elsewhere(now - SHARED_MS)]);
			const items = [...snapshot.issues.values()].map((issue) => judged(name, issue, snapshot, rest, clock.now()));
			return { items, faults: snapshot.faults };
		},
		read(id, since) {
			const now = clock.monotonic();
			return read(id, since === undefined ? { own: now, others: now - SHARED_MS } : { own: since, others: since });
		},
		peek(id) {
			const shared = clock.monotonic() - SHARED_MS;
			return read(id, { own: shared, others: shared });
		},
		faults: () => known?.snapshot.faults ?? [],
		write,
		close() {},
	};

	/** in_progress while it runs, closed after success, open again otherwise. Only through bd: the file belongs to bd. */
	async function write(id: string, { status }: Change): Promise<Written> {
		const word = check.word(id, "item");
		if (status === "idle" || status === "queued") return { changed: false, left: null };
		const now = (await look(clock.monotonic())).issues.get(id);
		if (now && isClosed(now.status)) return { changed: false, left: status === "succeeded" ? null : `${id} is closed already` };
		const wanted = status === "running" ? "in_progress" : "open";
		if (status !== "succeeded" && now) {
			if (now.status === wanted) return { changed: false, left: null };
			// Takes up only an open issue, and gives back only one that was taken up: any other status was set by a person.
			const before = status === "running" ? "open" : "in_progress";
			if (now.status !== before) return { changed: false, left: `${id} is ${takenBy(now) ?? now.status}` };
		}
		const args =
			status === "succeeded" ? ["close", word, "--reason", "done by sluice", "--json"] : ["update", word, "--status", wanted, "--json"];
		if ((await bd.ask(args)) === null)
			throw new SluiceError("not_found", "bd is not installed: nothing is written", { field: "write_back" });
		return { changed: true, left: null };
	}
}
