// Where in the dashboard one is: view, job and filters, to and from the address. Pure.

export const VIEWS = ["board", "graph", "timeline", "limits", "batches", "trends", "kernel"] as const;
export type View = (typeof VIEWS)[number];
export const TABS = ["why", "log", "runs", "diff", "history", "details"] as const;
export type Tab = (typeof TABS)[number];

export type Filter = { q: string; lane: string | null; repo: string | null; batch: string | null; status: string | null };
export type Place = { view: View; job: number | null; tab: Tab; filter: Filter };

const oneOf = <T extends string>(all: readonly T[], value: string | null, otherwise: T): T =>
	(all as readonly (string | null)[]).includes(value) ? (value as T) : otherwise;

export function placeOf(search: string): Place {
	const params = new URLSearchParams(search);
	const job = params.get("job");
	const word = (key: string) => params.get(key) || null;
	return {
		view: oneOf(VIEWS, params.get("view"), "board"),
		job: job !== null && /^[1-9]\d{0,14}$/.test(job) ? Number(job) : null,
		tab: oneOf(TABS, params.get("tab"), "why"),
		filter: { q: params.get("q") ?? "", lane: word("lane"), repo: word("repo"), batch: word("batch"), status: word("status") },
	};
}

export function addressOf({ view, job, tab, filter }: Place): string {
	const params = new URLSearchParams();
	if (view !== "board") params.set("view", view);
	if (job !== null) params.set("job", String(job));
	if (job !== null && tab !== "why") params.set("tab", tab);
	for (const [key, value] of Object.entries(filter)) if (value) params.set(key, value);
	const text = params.toString();
	return text === "" ? "/" : `/?${text}`;
}

/** The token of a sign-in link, and the address without it. */
export function tokenOf(hash: string): string | null {
	const found = /^#token=([\w.~-]{1,1000})$/.exec(hash)?.[1];
	return found ?? null;
}
