// The command palette: one field that finds every view, job and action, with keys alone. What loses something still asks.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { after } from "../outside.ts";
import { StatusDot } from "../parts/bits.tsx";
import { useNews, useQuery } from "../parts/hooks.ts";
import { useModal } from "../parts/modal.ts";
import { overlay } from "../parts/overlay.ts";
import { COLUMNS } from "../state/column.ts";
import { FIELDS, type PageRow, rowOf } from "../state/row.ts";
import { entriesOf, jobActions, jobEntry, type PaletteEntry } from "./entries.ts";
import { type FuzzyFit, fitOf, wordsOf } from "./fuzzy.ts";

/** Maximum rows: more is for a longer query. */
const SHOWN = 60;
/** Jobs that are listed before anything is typed. */
const RECENT = 12;
const NONE: PageRow[] = [];
type Found = { entry: PaletteEntry; fit: FuzzyFit };

/** Jobs that only the daemon has; asked for a moment after the last letter. */
function useFar(query: string): { rows: PageRow[]; isSearching: boolean } {
	const [asked, ask] = useState("");
	useEffect(() => after(200, () => ask(query)), [query]);
	const { value } = useQuery(
		`palette ${asked}`,
		async () => (asked.length < 2 ? null : app.call("job.search", { text: asked, limit: 20, fields: [...FIELDS] })),
		asked,
	);
	const rows = useMemo(() => (value === null ? NONE : value.jobs.map((job) => rowOf(job, value.seq))), [value]);
	return { rows, isSearching: query.length > 1 && (asked !== query || value === null) };
}

const PLAIN: FuzzyFit = { score: 0, marks: [] };

function search(query: string, entries: readonly PaletteEntry[], far: readonly PageRow[], isJobSearch: boolean): Found[] {
	const words = wordsOf(query.replace(/^#/, ""));
	const found: Found[] = [];
	for (const entry of entries) {
		const own = fitOf(words, entry.words);
		const wide = own ?? (entry.also ? fitOf(words, `${entry.words} ${entry.also}`) : null);
		if (wide) found.push({ entry, fit: own ?? { score: wide.score - 25, marks: [] } });
	}
	if (!isJobSearch) return found.sort((a, b) => b.fit.score - a.fit.score);
	const number = /^#?(\d{1,15})$/.exec(query.trim())?.[1];
	for (const row of app.jobs.rows.values()) {
		const one = fitOf(words, `${row.id} ${row.label}`);
		// What a person typed as a number is that job. A job that has ended comes after one that has not.
		if (number === String(row.id)) found.push({ entry: jobEntry(row), fit: { score: 1000, marks: one?.marks ?? [] } });
		else if (one) found.push({ entry: jobEntry(row), fit: { ...one, score: one.score - (row.endedAt === null ? 5 : 8) } });
	}
	found.sort((a, b) => b.fit.score - a.fit.score);
	const known = new Set(found.slice(0, SHOWN).map(({ entry }) => entry.key));
	const more = far.map(jobEntry).filter(({ key }) => !known.has(key));
	return [...found.slice(0, SHOWN - Math.min(10, more.length)), ...more.map((entry) => ({ entry, fit: PLAIN }))].slice(0, SHOWN);
}

/** Before anything is typed: what needs a person, what runs, what is next. */
function recentJobs(): PaletteEntry[] {
	const { all } = app.jobs.columns;
	return COLUMNS.flatMap((column) => all[column].slice(0, 4))
		.slice(0, RECENT)
		.map(jobEntry);
}

/** The job of the palette's actions; one that the page has not loaded is asked for. */
function useRow(id: number | null): PageRow | null {
	const known = id === null ? undefined : app.jobs.rows.get(id);
	const { value } = useQuery(
		`palette job ${id}`,
		async () => (id === null || known ? null : app.call("job.list", { ids: [id], fields: [...FIELDS] })),
		String(id),
	);
	const [job] = value?.jobs ?? [];
	return known ?? (job && value ? rowOf(job, value.seq) : null);
}

function useEntries(query: string, inHand: PageRow | null, scope: PageRow | null) {
	const { version } = app.jobs;
	const far = useFar(scope ? "" : query.trim());
	const repos = useQuery("repos", () => app.call("repo.list", {}));
	const accounts = useQuery("accounts", () => app.call("account.list", {}));
	const known = {
		repos: (repos.value?.repos ?? []).map(({ name }) => name),
		accounts: (accounts.value?.accounts ?? []).map(({ name }) => name),
	};
	const names = JSON.stringify(known);
	const found = useMemo(() => {
		const entries = scope ? jobActions(scope) : entriesOf(inHand, known);
		if (query.trim() !== "") return search(query, entries, far.rows, scope === null);
		const all = scope ? entries : [...entries.slice(0, SHOWN - RECENT), ...recentJobs()];
		return all.map((entry) => ({ entry, fit: PLAIN }));
	}, [query, inHand, scope, far.rows, names, version, app.revision]);
	return { found, isSearching: far.isSearching };
}

export function Palette({ job }: { job: number | null }) {
	useNews("jobs", "status");
	const close = () => overlay.show(null);
	const modal = useModal(close);
	const [query, setQuery] = useState("");
	const [chosen, choose] = useState(0);
	const [scope, setScope] = useState<PageRow | null>(null);
	const list = useRef<HTMLDivElement>(null);
	const { found, isSearching } = useEntries(query, useRow(job), scope);
	const at = Math.min(chosen, found.length - 1);
	useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [at, found]);
	const type = (text: string) => {
		setQuery(text);
		choose(0);
	};
	const enter = (into: PageRow | null) => {
		setScope(into);
		type("");
	};
	const run = (entry: PaletteEntry | undefined) => {
		if (!entry) return;
		close();
		entry.act();
	};
	const keys: Record<string, () => void> = {
		ArrowDown: () => choose(found.length === 0 ? 0 : (at + 1) % found.length),
		ArrowUp: () => choose(found.length === 0 ? 0 : (at - 1 + found.length) % found.length),
		PageDown: () => choose(Math.min(found.length - 1, at + 8)),
		PageUp: () => choose(Math.max(0, at - 8)),
		Enter: () => run(found[at]?.entry),
		Tab: () => enter(found[at]?.entry.row ?? scope),
	};
	return (
		<dialog {...modal} class="palette" aria-label="Command palette">
			<div class="field">
				{scope ? (
					<button type="button" class="chip" title="Back to everything (Backspace)" onClick={() => enter(null)}>
						job {scope.id} <span aria-hidden="true">×</span>
					</button>
				) : null}
				<input
					type="text"
					role="combobox"
					aria-expanded="true"
					aria-controls="palette-list"
					aria-autocomplete="list"
					aria-activedescendant={found.length === 0 ? undefined : `palette-${at}`}
					aria-label={scope ? `Do something with job ${scope.id}` : "Find a job, a view or an action"}
					placeholder={scope ? `Do with job ${scope.id}…` : "Find a job, a view or an action"}
					autocomplete="off"
					spellcheck={false}
					autofocus
					value={query}
					onInput={(event) => type(event.currentTarget.value)}
					onKeyDown={(event) => {
						if (event.isComposing || event.altKey) return;
						if (event.key === "Backspace" && query === "" && scope) return enter(null);
						const does = event.key === "k" && (event.ctrlKey || event.metaKey) ? close : keys[event.key];
						if (!does || (event.key === "Tab" && event.shiftKey)) return;
						event.preventDefault();
						does();
					}}
				/>
			</div>
			<div id="palette-list" class="options" role="listbox" aria-label="Found" ref={list} tabIndex={-1}>
				{found.map(({ entry, fit }, index) => (
					<Option key={entry.key} id={`palette-${index}`} entry={entry} fit={fit} chosen={index === at ? "yes" : "no"} run={run} />
				))}
			</div>
			{found.length === 0 ? (
				<p class="nothing" role="status">
					{isSearching ? "Searching all jobs…" : "Nothing fits. Try fewer letters, or the number of a job."}
				</p>
			) : null}
			<Hints />
		</dialog>
	);
}

const Hints = () => (
	<p class="hints dim" aria-hidden="true">
		<kbd>↑</kbd>
		<kbd>↓</kbd> choose <kbd>Enter</kbd> do it <kbd>Tab</kbd> what can be done with a job <kbd>Esc</kbd> close
	</p>
);

type OptionProps = { id: string; entry: PaletteEntry; fit: FuzzyFit; chosen: "yes" | "no"; run: (entry: PaletteEntry) => void };

function Option({ id, entry, fit, chosen, run }: OptionProps) {
	return (
		// biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys of the whole list
		<div
			id={id}
			role="option"
			aria-selected={chosen === "yes"}
			tabIndex={-1}
			onClick={() => run(entry)}
			// The field keeps the focus.
			onMouseDown={(event) => event.preventDefault()}
		>
			{entry.row ? <StatusDot status={entry.row.status} /> : <span class="sign" aria-hidden="true" />}
			<bdi class="words">
				<Marked text={entry.words} marks={fit.marks} />
			</bdi>
			{entry.keys ? <kbd>{entry.keys}</kbd> : null}
			<span class="group dim">{entry.row ? entry.row.lane : entry.group}</span>
		</div>
	);
}

function Marked({ text, marks }: { text: string; marks: FuzzyFit["marks"] }) {
	if (marks.length === 0) return <>{text}</>;
	let at = 0;
	const parts = marks.map(([from, to]) => {
		const before = text.slice(at, from);
		at = to;
		return (
			<>
				{before}
				<b>{text.slice(from, to)}</b>
			</>
		);
	});
	return (
		<>
			{parts}
			{text.slice(at)}
		</>
	);
}
