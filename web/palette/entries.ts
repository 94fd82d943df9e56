// What the palette offers besides jobs: views, actions of the job in hand, pauses, caps, holds, hosts, the page itself.

import { app } from "../app.ts";
import { askSaveView, openSaved, savedViews } from "../finding/saved-views.ts";
import {
	askMax,
	askPause,
	clearAccount,
	clearHold,
	clearQueue,
	drainHost,
	pause,
	resume,
	type Scope,
	undrainHost,
} from "../parts/actions.ts";
import { actionsOf } from "../parts/job-actions.ts";
import { openForm } from "../parts/overlay.ts";
import { isShown, NAMES } from "../parts/shell.tsx";
import { VIEWS } from "../state/route.ts";
import type { PageRow } from "../state/row.ts";
import { inWords } from "../state/words.ts";

export type PaletteEntry = {
	key: string;
	/** What kind of thing it is; shown beside it. */
	group: string;
	words: string;
	/** Found by these words as well. */
	also?: string;
	keys?: string;
	/** A job: Tab lists its actions. */
	row?: PageRow;
	act: () => void;
};

/** Names that a pause can be about, besides what the status tells. */
export type KnownNames = { repos: readonly string[]; accounts: readonly string[] };

const entry = (group: string, words: string, act: () => void, more: Partial<PaletteEntry> = {}): PaletteEntry => ({
	key: `${group} ${words}`,
	group,
	words,
	act,
	...more,
});

const VIEW_WORDS: Partial<Record<(typeof VIEWS)[number], string>> = {
	now: "home inbox needs you",
	limits: "lanes caps accounts budgets repos hosts money",
	trends: "statistics charts cost throughput",
	audit: "audit record",
};

const viewEntries = (): PaletteEntry[] =>
	VIEWS.filter(isShown).map((view, index) =>
		entry("view", NAMES[view], () => app.go({ view, job: null }), {
			also: VIEW_WORDS[view] ?? "",
			keys: index < 9 ? String(index + 1) : "",
		}),
	);

export const jobActions = (row: PageRow): PaletteEntry[] =>
	actionsOf(row).map(({ words, act }) => entry(`job ${row.id}`, words, act, { also: row.label }));

function pauseEntries({ repos, accounts }: KnownNames): PaletteEntry[] {
	const { status } = app;
	if (!status) return [];
	const paused = new Set(status.holds.filter(({ kind }) => kind === "paused").map(({ scope }) => scope));
	const batches = new Set<string>();
	const { done: _, failed: __, ...open } = app.jobs.columns.all;
	for (const rows of Object.values(open)) for (const { batch } of rows) if (batch !== null) batches.add(batch);
	const scopes: Scope[] = [
		...Object.keys(status.lanes).map((lane) => ({ lane })),
		...repos.map((repo) => ({ repo })),
		...[...batches].map((batch) => ({ batch })),
		...accounts.map((account) => ({ account })),
	];
	return [
		status.paused
			? entry("pause", "Resume everything", () => resume(), { keys: "p" })
			: entry("pause", "Pause everything…", askPause, { keys: "p", also: "stop" }),
		...scopes.map((scope) => {
			const [kind = "", name = ""] = Object.entries(scope)[0] ?? [];
			return paused.has(`${kind}:${name}`)
				? entry("pause", `Resume ${kind} ${name}`, () => resume(scope))
				: entry("pause", `Pause ${kind} ${name}`, () => pause(scope));
		}),
	];
}

function limitEntries(): PaletteEntry[] {
	const { status } = app;
	if (!status) return [];
	const caps = app.mayManage
		? [
				entry("cap", "Cap of everything…", () => askMax(null, status.max_concurrent > 0 ? status.max_concurrent : null), {
					also: "max concurrent limit",
				}),
				...Object.entries(status.lanes).map(([name, { max }]) =>
					entry("cap", `Cap of lane ${name}…`, () => askMax(name, max ?? null), { also: "max limit" }),
				),
			]
		: [];
	const holds = status.holds
		.filter(({ kind }) => kind !== "paused")
		.map((hold) => entry("hold", `Clear: ${inWords(hold.kind)}, ${hold.scope}`, () => clearHold(hold), { also: hold.reason }));
	const hosts = status.hosts.map(({ name, drain }) =>
		drain ? entry("host", `Undrain host ${name}`, () => undrainHost(name)) : entry("host", `Drain host ${name}…`, () => drainHost(name)),
	);
	return [...caps, ...holds, ...hosts];
}

const pageEntries = (): PaletteEntry[] => [
	entry("page", "Colours as the system", () => app.setTheme("auto"), { also: "theme" }),
	entry("page", "Light colours", () => app.setTheme("light"), { also: "theme" }),
	entry("page", "Dark colours", () => app.setTheme("dark"), { also: "theme" }),
	entry("page", "Show the keys", () => app.help(true), { keys: "?", also: "help shortcuts" }),
	entry("page", "Screen on the wall", () => app.go({ view: "now", job: null, wall: true }), { also: "wall tv" }),
	entry("page", "Take the filter away", () => app.go({ filter: { q: "", lane: null, repo: null, batch: null, status: null } }), {
		also: "clear search",
	}),
	...(app.me?.person ? [entry("page", `Sign out ${app.me.person}`, () => void app.signOut())] : []),
];

/** In the order in which they are shown before anything is typed. */
export function entriesOf(inHand: PageRow | null, known: KnownNames): PaletteEntry[] {
	const acts = app.mayAct
		? [
				...pauseEntries(known),
				...limitEntries(),
				...known.accounts.map((name) => entry("account", `Open account ${name} again…`, () => clearAccount(name), { also: "clear limit" })),
				entry("queue", "Clear the queue…", clearQueue, { also: "cancel all" }),
			]
		: [];
	const add = app.mayAct ? [entry("job", "Add a job…", () => openForm("add"), { keys: "n", also: "new create start" })] : [];
	const saved = savedViews().map((view) => entry("saved view", view.name, () => openSaved(view), { also: view.search }));
	const save = Object.values(app.place.filter).some(Boolean)
		? [entry("page", "Save this view…", askSaveView, { also: "filter bookmark" })]
		: [];
	return [...(inHand ? jobActions(inHand) : []), ...add, ...viewEntries(), ...saved, ...save, ...acts, ...pageEntries()];
}

export const jobEntry = (row: PageRow): PaletteEntry => ({
	key: `job ${row.id}`,
	group: "job",
	words: `${row.id} ${row.label}`,
	row,
	act: () => app.go({ job: row.id, tab: "why" }),
});
