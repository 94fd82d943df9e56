// Contract of a source: where items of work come from, what is known of an item, and what may be written back. Implementations in sources/.

import type { SourceSettings } from "../core/schema/source.ts";
import type { Facts, ItemFact } from "./host.ts";

export type { SourceSettings } from "../core/schema/source.ts";

/** `batch` stands for the items that it tracks, `epic` for its children. Neither is work by itself. */
export type ItemKind = "task" | "epic" | "batch";

export type Item = {
	source: string;
	id: string;
	kind: ItemKind;
	title: string;
	/** The full text, as an agent should read it. */
	text: string;
	/** Its state, in the source's own words. */
	status: string;
	open: boolean;
	/** A person or an agent works on it. */
	in_progress: boolean;
	/**
	 * Who has it, in the source's words: "hooked by ann". A job that has not begun waits until it is free; null also if the source does not hold jobs because of
	 * this.
	 */
	taken: string | null;
	/** Why its own state keeps an open item from being ready, in words: "deferred until 2027-01-01T00:00:00Z". */
	held: string | null;
	/** Items that must be done before it, each by a name that a person knows. */
	blocked_by: string[];
	/** The items that a batch tracks, or the children of an epic. */
	members: string[];
	/** The open batch that tracks it. */
	batch: string | null;
	phase: string | null;
	/** The kind of work, which is the lane that it asks for. */
	flow: string | null;
	/** Null if the source does not say. */
	parallelizable: boolean | null;
	/** Added to the priority sum. */
	priority: number;
	branch: string | null;
	owner: string | null;
	/** Ready to be done: `watch` may make a job of it. */
	eligible: boolean;
	/** Where it is kept: a path, or the id. */
	place: string;
	/** A fingerprint: changes whenever the item does. */
	mark: string;
	/** A contradiction in the item; the item stays as a person wrote it. */
	report?: string;
};

/** An open item of which only the name is known; a source overrides the fields that it knows. */
export const plainItem = (source: string, id: string): Item => ({
	source,
	id,
	kind: "task",
	title: id,
	text: "",
	status: "open",
	open: true,
	in_progress: false,
	taken: null,
	held: null,
	blocked_by: [],
	members: [],
	batch: null,
	phase: null,
	flow: null,
	parallelizable: null,
	priority: 0,
	branch: null,
	owner: null,
	eligible: false,
	place: id,
	mark: "",
});

/** An error in one item; other items are not affected. */
export type ItemFault = { source: string; id: string | null; place: string; code: string; message: string; hint: string | null };

export type Scan = { items: Item[]; faults: ItemFault[] };

export const AGENT_STATUSES = ["idle", "queued", "running", "succeeded", "failed", "canceled"] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** `line`: one line of history; `once`: a part of the line that identifies it, so that it is never written twice. */
export type Change = { status: AgentStatus; line?: { text: string; once: string } };
/** `left`: why the item was left unchanged, because a person has changed it meanwhile. */
export type Written = { changed: boolean; left: string | null };

/** Identifies a queue that writes into a source to other such queues: the id of its store, and the home of its daemon. */
export type QueueMark = { queue: string; home: string; host: string };

export interface Source {
	readonly name: string;
	readonly settings: SourceSettings;
	/** Reads all items. */
	scan(): Promise<Scan>;
	/**
	 * Reads one item as it is now, or as it was seen at `since` (monotonic) or later; null if there is none. An error in the item is thrown as a SluiceError. If
	 * its field is `item`, its message names the item or the file of the item; callers put the id in front of any other.
	 */
	read(id: string, since?: number): Promise<Item | null>;
	/** Like `read`, for callers that poll: the answer may be some seconds old. */
	peek?(id: string): Promise<Item | null>;
	/** Calls back with the ids of items that may have changed, with some delay. Returns a function that ends the watch. */
	watch?(call: (ids: string[]) => void): () => void;
	/** Errors in the items that were read so far. */
	faults?(): ItemFault[];
	/** Registers this queue as a writer of the source; returns the other queues that write into it. */
	join?(own: QueueMark): Promise<QueueMark[]>;
	/** Changes the field that `write_back` names and nothing else. */
	write?(id: string, change: Change): Promise<Written>;
	close(): void;
}

/** The item as the fact that the engine's gates read. */
export function factOf({ open, blocked_by, in_progress, taken, held }: Item): ItemFact {
	if (!open) return { open: false };
	return {
		open: true,
		blocked_by,
		...(in_progress ? { in_progress: true } : {}),
		...(taken === null ? {} : { taken }),
		...(held === null ? {} : { held }),
	};
}

/** The configured sources. */
export type Sources = {
	all(): Source[];
	/** Throws if there is no such source. */
	get(name: string): Source;
	/** The item of this id: `id`, or `source:id` if several sources have it. Null if no source has it. */
	find(id: string): Promise<Item | null>;
	/** `find` for many ids that belong together: each source is read once, at the first call. */
	survey(): (id: string) => Promise<Item | null>;
	/** The facts for those keys that are items of our sources. */
	probe(keys: readonly string[]): Promise<Facts>;
	/** The state of an item (`source:id`) from a read that begins now; null if none of our sources has it, or if it cannot be read. */
	confirm(item: string): Promise<ItemFact | null>;
	/** Opens new and changed sources, closes removed ones; true if anything changed. */
	configure(settings: Record<string, SourceSettings>): boolean;
	close(): void;
};
