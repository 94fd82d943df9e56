// The route within the dashboard: view, job and filters, to and from the URL. Pure.

export const VIEWS = ["now", "board", "graph", "timeline", "limits", "batches", "trends", "kernel", "audit"] as const;
export type PageView = (typeof VIEWS)[number];
export const TABS = ["why", "log", "runs", "diff", "history", "details"] as const;
export type Tab = (typeof TABS)[number];

export type Filter = { q: string; lane: string | null; repo: string | null; batch: string | null; status: string | null };
/** `run`: the attempt whose log is open; null is the last one. */
export type Route = { view: PageView; job: number | null; tab: Tab; run?: number | null; filter: Filter; wall: boolean };

const oneOf = <T extends string>(all: readonly T[], value: string | null, otherwise: T): T =>
	(all as readonly (string | null)[]).includes(value) ? (value as T) : otherwise;

const isFiltered = (filter: Filter): boolean => Object.values(filter).some(Boolean);

export function routeOf(search: string): Route {
	const params = new URLSearchParams(search);
	const [job, run] = [params.get("job"), params.get("run")];
	const word = (key: string) => params.get(key) || null;
	const filter = { q: params.get("q") ?? "", lane: word("lane"), repo: word("repo"), batch: word("batch"), status: word("status") };
	return {
		// An address with a filter and no view is of the board: that is where a filter shows something.
		view: oneOf(VIEWS, params.get("view"), isFiltered(filter) ? "board" : "now"),
		job: job !== null && /^[1-9]\d{0,14}$/.test(job) ? Number(job) : null,
		tab: oneOf(TABS, params.get("tab"), "why"),
		run: run !== null && /^[1-9]\d{0,6}$/.test(run) ? Number(run) : null,
		filter,
		wall: params.has("wall"),
	};
}

/** `wall`: for a screen on the wall, large and without controls. */
export function addressOf({ view, job, tab, run, filter, wall }: Route): string {
	const params = new URLSearchParams();
	if (view !== "now" || isFiltered(filter)) params.set("view", view);
	if (job !== null) params.set("job", String(job));
	if (job !== null && tab !== "why") params.set("tab", tab);
	if (job !== null && tab === "log" && run) params.set("run", String(run));
	for (const [key, value] of Object.entries(filter)) if (value) params.set(key, value);
	if (wall) params.set("wall", "");
	const text = params.toString();
	return text === "" ? "/" : `/?${text}`;
}

/** The sign-in code in a link, or typed alone. Nothing else matches, in particular no token of the home: the page must never send one. */
export function codeIn(text: string): string | null {
	return /^(?:\S*#code=)?([\w-]{22})$/.exec(text.trim())?.[1] ?? null;
}
