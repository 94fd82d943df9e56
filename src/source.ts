// Contract of a source: where items of work come from, what is known of one, and what may be written back. Implementations in sources/.

import type { ItemFact } from "./host.ts";

export const SOURCE_KINDS = ["cards", "beads", "folder"] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** What the configuration says of a source. */
export type SourceSettings = {
	kind: SourceKind;
	/** The folder: of the phases, of `.beads`, of the prompt files. */
	root: string;
	/** The repo that its items belong to, where their ids do not say it. */
	repo: string | null;
	/** Eligible items become jobs by themselves. */
	watch: boolean;
	/** What of an item we may change: `agent_status` of a card, `status` of a bead. Null = nothing. */
	write_back: "agent_status" | "status" | null;
	/** Also a line of history when the item is queued. */
	history_on_queue: boolean;
	lane: string | null;
	recipe: string | null;
	agent: string | null;
};

/** `batch`: stands for the items that it tracks; `epic`: for its children. Neither is work by itself. */
export type ItemKind = "task" | "epic" | "batch";

export type Item = {
	source: string;
	id: string;
	kind: ItemKind;
	title: string;
	/** The whole of it, as an agent should read it. */
	text: string;
	/** Its state, in the source's own word. */
	status: string;
	open: boolean;
	/** Somebody has taken it up. */
	in_progress: boolean;
	/** By whom, as its source says: "hooked by ann". A job that has not begun waits for it; null also where the source does not hold jobs by it. */
	taken: string | null;
	/** Why its own state keeps an open item from being ready, in words: "deferred until 2027-01-01T00:00:00Z". */
	held: string | null;
	/** What must be done before it, each by a name that a person knows. */
	blocked_by: string[];
	/** What a batch tracks, or the children of an epic. */
	members: string[];
	/** The open batch that tracks it. */
	batch: string | null;
	phase: string | null;
	/** The kind of work: the lane that it asks for. */
	flow: string | null;
	/** Null where the source does not say. */
	parallelizable: boolean | null;
	/** Added to the priority sum. */
	priority: number;
	branch: string | null;
	owner: string | null;
	/** Asks to be done: `watch` may make a job of it. */
	eligible: boolean;
	/** Where it is kept: a path, or the id. */
	place: string;
	/** Changes whenever the item does. */
	mark: string;
	/** What in it does not fit together; it stays as a person wrote it. */
	report?: string;
};

/** An open item of which nothing is known but its name: what a source has to say is put over it. */
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

/** Something is wrong with one item; all others go on. */
export type ItemFault = { source: string; id: string | null; place: string; code: string; message: string; hint: string | null };

export type Scan = { items: Item[]; faults: ItemFault[] };

export const AGENT_STATUSES = ["idle", "queued", "running", "succeeded", "failed", "canceled"] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

/** `line`: one line of history; `once`: a part of it by which it is recognised, so that it is never written twice. */
export type Change = { status: AgentStatus; line?: { text: string; once: string } };
/** `left`: a person has changed it meanwhile, and why it stays as it is. */
export type Written = { changed: boolean; left: string | null };

/** A queue that writes into a source, as another one should know it: its store's own name, and where its daemon lives. */
export type QueueMark = { queue: string; home: string; host: string };

export interface Source {
	readonly name: string;
	readonly settings: SourceSettings;
	/** Looks at everything. */
	scan(): Promise<Scan>;
	/**
	 * One item as it is now, or as it was seen at `since` (monotonic) or later; null when there is none. What is wrong with it is thrown as a
	 * SluiceError.
	 */
	read(id: string, since?: number): Promise<Item | null>;
	/** The same for callers that poll: may be some seconds old. */
	peek?(id: string): Promise<Item | null>;
	/** Calls back with the ids of what may have changed, some time after. Returns how to end it. */
	watch?(call: (ids: string[]) => void): () => void;
	/** What is wrong with items, as far as they were looked at. */
	faults?(): ItemFault[];
	/** Says that this queue writes into the source; the others that do. */
	join?(own: QueueMark): Promise<QueueMark[]>;
	/** Changes what `write_back` names and nothing else. */
	write?(id: string, change: Change): Promise<Written>;
	close(): void;
}

/** What the engine's gate looks at. */
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
