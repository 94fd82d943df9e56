// Beads: through the program `bd` where it is installed, else read-only from `.beads/issues.jsonl`. What is ready is decided when it is asked for.

import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as check from "../../core/check.ts";
import { SluiceError } from "../../core/errors.ts";
import type { Clock } from "../../host.ts";
import type { Change, Item, ItemFault, Source, SourceSettings, Written } from "../../source.ts";
import { type Bd, issuesIn } from "./bd.ts";
import { blockersOf, type Issue, isClosed, issueOf, itemOf, kindOf, tooLong } from "./issue.ts";

export type BeadsParts = {
	bd: Bd;
	clock: Pick<Clock, "monotonic">;
	/** An issue of another beads source: dependencies go across repos. */
	elsewhere: (id: string) => Promise<Issue | undefined>;
};

export type BeadsSource = Source & { issue(id: string): Promise<Issue | undefined> };

/** Everything of one database, as it was when it was looked at. */
type Snapshot = {
	issues: Map<string, Issue>;
	children: Map<string, Issue[]>;
	trackers: Map<string, Issue[]>;
	faults: ItemFault[];
	/** What bd itself says is ready; null when it was not asked. */
	ready: Set<string> | null;
};

/** A look through bd starts programs: those who only poll share one for so long. */
const SHARED_MS = 3000;

export function openBeads(name: string, settings: SourceSettings, { bd, clock, elsewhere }: BeadsParts): BeadsSource {
	const { root } = settings;
	let file: { stamp: string; snapshot: Snapshot } | undefined;
	let known: Snapshot | undefined;

	let looking: Promise<Snapshot> | undefined;
	let lookedAt = Number.NEGATIVE_INFINITY;

	async function look(how: "now" | "shared" = "now"): Promise<Snapshot> {
		if (how === "shared" && known && clock.monotonic() - lookedAt < SHARED_MS) return known;
		const began = clock.monotonic();
		looking ??= askAll().finally(() => {
			looking = undefined;
		});
		known = await looking;
		lookedAt = began;
		return known;
	}

	async function askAll(): Promise<Snapshot> {
		const listed = await bd.ask(["list", "--json", "--all", "--limit", "0"]);
		if (listed === null) return readFileSnapshot();
		const ready = issuesIn(await bd.ask(["ready", "--json", "--limit", "0"]));
		const ids = new Set(ready.flatMap((one) => (typeof (one as { id?: unknown })?.id === "string" ? [(one as { id: string }).id] : [])));
		return withEdges(await detailed(issuesIn(listed)), ids);
	}

	/** `bd list` leaves dependencies out; `bd show` has them. One call for all that have any. */
	async function detailed(listed: unknown[]): Promise<{ values: unknown[]; faults: ItemFault[] }> {
		const bare = listed.flatMap((one) => {
			const { id, dependencies, dependency_count, issue_type } = (one ?? {}) as Record<string, unknown>;
			return typeof id === "string" && dependencies === undefined && (dependency_count !== 0 || issue_type === "convoy") ? [id] : [];
		});
		if (bare.length === 0) return { values: listed, faults: [] };
		const full = new Map<unknown, unknown>();
		for (let at = 0; at < bare.length; at += 200)
			for (const one of issuesIn(await bd.ask(["show", ...bare.slice(at, at + 200), "--json"])))
				full.set((one as { id?: unknown }).id, one);
		return { values: listed.map((one) => full.get((one as { id?: unknown })?.id) ?? one), faults: [] };
	}

	async function readFileSnapshot(): Promise<Snapshot> {
		const path = join(root, ".beads", "issues.jsonl");
		let stamp: string;
		let text: string;
		try {
			const { mtimeNs, size, ino } = await stat(path, { bigint: true });
			stamp = `${ino} ${mtimeNs} ${size}`;
			if (file?.stamp === stamp) return file.snapshot;
			text = new TextDecoder("utf-8", { fatal: true }).decode(await readFile(path));
		} catch (error) {
			const said = error instanceof TypeError ? `${path} is not UTF-8` : (error as Error).message;
			throw new SluiceError("not_found", `source ${name}: ${said}`, { field: "root", hint: "is bd installed, or the root right?" });
		}
		const faults: ItemFault[] = [];
		const values = text.split("\n").flatMap((line, index) => {
			if (line.trim() === "") return [];
			try {
				return [JSON.parse(line) as unknown];
			} catch {
				faults.push(fault(null, `${path}:${index + 1}`, new SluiceError("invalid", "is not JSON")));
				return [];
			}
		});
		const snapshot = withEdges({ values, faults });
		file = { stamp, snapshot };
		return snapshot;
	}

	function withEdges({ values, faults }: { values: unknown[]; faults: ItemFault[] }, ready: Set<string> | null = null): Snapshot {
		const snapshot: Snapshot = { issues: new Map(), children: new Map(), trackers: new Map(), faults, ready };
		const twice = new Set<string>();
		for (const value of values) {
			const id = typeof (value as { id?: unknown } | null)?.id === "string" ? (value as { id: string }).id.slice(0, check.MAX_NAME) : null;
			try {
				const issue = issueOf(value);
				if (snapshot.issues.has(issue.id)) twice.add(issue.id);
				snapshot.issues.set(issue.id, issue);
			} catch (error) {
				faults.push(fault(id, id ?? root, tooLong(id ?? "an issue", error)));
			}
		}
		for (const id of twice) {
			snapshot.issues.delete(id);
			faults.push(fault(id, id, new SluiceError("conflict", "stands there twice", { hint: "give each issue an id of its own" })));
		}
		const push = (map: Map<string, Issue[]>, key: string, issue: Issue) => {
			const all = map.get(key) ?? [];
			if (!all.includes(issue)) all.push(issue);
			map.set(key, all);
		};
		for (const issue of snapshot.issues.values()) {
			if (issue.parent) push(snapshot.children, issue.parent, issue);
			for (const { on, type } of issue.dependencies) {
				if (type === "parent-child") push(snapshot.children, on, issue);
				if (type === "tracks") push(snapshot.trackers, on, issue);
			}
		}
		return snapshot;
	}

	const fault = (id: string | null, place: string, error: SluiceError): ItemFault => ({
		source: name,
		id,
		place,
		code: error.code,
		message: `${place}: ${error.message}`,
		hint: error.hint ?? null,
	});

	/** What it may hang on in other databases, fetched before it is judged. */
	async function abroad(snapshot: Snapshot, issues: Iterable<Issue>): Promise<Map<string, Issue>> {
		const found = new Map<string, Issue>();
		const wanted = new Set<string>();
		for (const issue of issues)
			for (const { on, type } of issue.dependencies) if (type !== "tracks" && !snapshot.issues.has(on)) wanted.add(on);
		for (const id of wanted) {
			const issue = await elsewhere(id);
			if (issue) found.set(id, issue);
		}
		return found;
	}

	function judged(snapshot: Snapshot, issue: Issue, foreign: Map<string, Issue>): Item {
		const find = (id: string) => snapshot.issues.get(id) ?? foreign.get(id);
		const children = (id: string) => snapshot.children.get(id) ?? [];
		const kind = kindOf(issue);
		const members =
			kind === "batch"
				? issue.dependencies.flatMap(({ on, type }) => (type === "tracks" ? [on] : []))
				: kind === "epic"
					? children(issue.id).map(({ id }) => id)
					: [];
		const tracker = (snapshot.trackers.get(issue.id) ?? []).find((one) => kindOf(one) === "batch" && !isClosed(one.status));
		const blocked_by = blockersOf(issue, find, children);
		// Where bd was asked, its word counts: it knows more than the edges tell. Merges are ours to look at.
		const isReady = snapshot.ready?.has(issue.id);
		if (isReady) blocked_by.splice(0, blocked_by.length, ...blocked_by.filter((one) => one.endsWith("(not merged)")));
		else if (isReady === false && kind === "task" && issue.status === "open" && blocked_by.length === 0)
			blocked_by.push("what bd ready says");
		return itemOf(name, issue, { blocked_by, members, batch: tracker?.id ?? null });
	}

	/** With a parent's own dependencies: a child of a blocked parent is blocked. */
	const ancestry = (snapshot: Snapshot, issue: Issue): Issue[] => {
		const all = new Set([issue]);
		for (const one of all)
			for (const id of [one.parent, ...one.dependencies.flatMap(({ on, type }) => (type === "parent-child" ? [on] : []))]) {
				const parent = id === null ? undefined : snapshot.issues.get(id);
				if (parent) all.add(parent);
			}
		return [...all];
	};

	async function read(id: string, how: "now" | "shared" = "now"): Promise<Item | null> {
		const snapshot = await look(how);
		const issue = snapshot.issues.get(id);
		if (issue) return judged(snapshot, issue, await abroad(snapshot, ancestry(snapshot, issue)));
		const wrong = snapshot.faults.find((one) => one.id === id);
		if (wrong) throw new SluiceError("invalid", wrong.message, { field: "item", hint: wrong.hint ?? undefined });
		return null;
	}

	return {
		name,
		settings,
		async scan() {
			const snapshot = await look();
			const foreign = await abroad(snapshot, snapshot.issues.values());
			const items = [...snapshot.issues.values()].map((issue) => judged(snapshot, issue, foreign));
			return { items, faults: snapshot.faults };
		},
		read: (id) => read(id),
		peek: (id) => read(id, "shared"),
		issue: async (id) => (await look("shared")).issues.get(id),
		faults: () => known?.faults ?? [],
		write: (id, change) => write(id, change),
		close() {},
	};

	/** in_progress while it runs, closed when it went well, open again when it did not. Only through bd: the file is bd's own. */
	async function write(id: string, { status }: Change): Promise<Written> {
		const word = check.word(id, "item");
		const args = {
			idle: null,
			queued: null,
			running: ["update", word, "--status", "in_progress", "--json"],
			succeeded: ["close", word, "--reason", "done by sluice", "--json"],
			failed: ["update", word, "--status", "open", "--json"],
			canceled: ["update", word, "--status", "open", "--json"],
		}[status];
		if (args === null) return { changed: false, left: null };
		const now = (await look()).issues.get(id);
		if (now && isClosed(now.status)) return { changed: false, left: status === "succeeded" ? null : `${id} is closed already` };
		if ((await bd.ask(args)) === null)
			throw new SluiceError("not_found", "bd is not installed: nothing is written", { field: "write_back" });
		return { changed: true, left: null };
	}
}
