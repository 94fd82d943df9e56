// The search box: the filter language with completion of keys and values, what is wrong with a query, and views that were saved.

import { useMemo } from "preact/hooks";
import { STATUSES } from "../../src/core/job.ts";
import { app } from "../app.ts";
import { Complete, type Completion, type Suggestion } from "../parts/complete.tsx";
import { parseQuery, QUERY_KEYS, type QueryKey, STATES } from "../state/query.ts";
import { askSaveView, forgetView, isSaved, openSaved, savedViews } from "./saved-views.ts";

const ABOUT: Record<QueryKey, string> = {
	status: "queued, running, failed …",
	lane: "the class of work",
	repo: "the repository",
	batch: "the batch",
	agent: "the program",
	model: "the model",
	owner: "whose budget pays",
	host: "where it runs",
	account: "whose quota is used",
	is: "held, ready, asking, retried …",
};
const OPTIONS = 12;

/** Values that jobs have, the most frequent first. */
function valuesOf(key: QueryKey): string[] {
	if (key === "is") return Object.keys(STATES);
	if (key === "status") return [...STATUSES];
	const counts = new Map<string, number>();
	if (key === "lane") for (const lane of Object.keys(app.status?.lanes ?? {})) counts.set(lane, 0);
	if (key === "host") for (const { name } of app.status?.hosts ?? []) counts.set(name, 0);
	for (const row of app.jobs.rows.values()) {
		const value = row[key];
		if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
	}
	return [...counts].sort(([, a], [, b]) => b - a).map(([value]) => value);
}

/** The word before the cursor; quotes keep spaces together. */
const HERE = /(?:[^\s"]|"[^"]*"?)*$/;

function suggest(text: string, caret: number, how: "typed" | "all"): Suggestion | null {
	const typed = HERE.exec(text.slice(0, caret))?.[0] ?? "";
	const from = caret - typed.length;
	const to = caret + (/^\S*/.exec(text.slice(caret))?.[0].length ?? 0);
	const [, minus = "", key, value = ""] = /^(-?)(?:(\w+):)?(.*)$/s.exec(typed) ?? [];
	const known = QUERY_KEYS.find((one) => one === key?.toLowerCase());
	const shown = (options: Completion[]) => ({ from, to, options: options.slice(0, OPTIONS) });
	if (known) {
		const low = value.replaceAll('"', "").toLowerCase();
		const all = valuesOf(known).filter((one) => one.toLowerCase().includes(low) && one !== value);
		const quoted = (one: string) => (/[\s,"]/.test(one) ? `"${one.replaceAll('"', "")}"` : one);
		return shown(all.map((one) => ({ text: `${minus}${known}:${quoted(one)} `, words: one })));
	}
	if (key !== undefined || (value === "" && how === "typed")) return null;
	const keys = QUERY_KEYS.filter((one) => one.startsWith(value.toLowerCase()));
	return shown(keys.map((one) => ({ text: `${minus}${one}:`, about: ABOUT[one] })));
}

export function SearchBox() {
	const { q, lane, repo, batch, status } = app.place.filter;
	const chips = Object.entries({ lane, repo, batch, status }).filter(([, value]) => value !== null);
	const { problems } = useMemo(() => parseQuery(q), [q]);
	return (
		<search class="search">
			<Complete
				id="search"
				label="Search jobs: words, lane:…, status:…, is:held, -not, a OR b, #7"
				placeholder="Search jobs  /"
				value={q}
				onEscape="passed"
				suggest={suggest}
				invalid={problems.length > 0}
				describedBy={problems.length > 0 ? "search-problem" : undefined}
				set={(text) =>
					// The board shows what was found.
					app.go({ view: app.place.view === "now" ? "board" : app.place.view, job: null, filter: { q: text } }, "replace")
				}
			/>
			{problems.length > 0 ? (
				<p id="search-problem" class="problems" role="status">
					{problems.join(" ")}
				</p>
			) : null}
			{chips.map(([key, value]) => (
				<button
					key={key}
					type="button"
					class="chip filter"
					onClick={() => app.go({ filter: { [key]: null } })}
					title="Take this filter away"
				>
					{key}: {value} <span aria-hidden="true">×</span>
				</button>
			))}
			<SavedMenu />
		</search>
	);
}

/** Closes when a person chooses, or goes elsewhere. */
function SavedMenu() {
	const views = savedViews();
	const isFiltered = Object.values(app.place.filter).some(Boolean);
	if (views.length === 0 && !isFiltered) return null;
	const close = (target: EventTarget & Element) => target.closest("details")?.removeAttribute("open");
	return (
		<details
			class="menu saved"
			onFocusOut={(event) => {
				if (!event.currentTarget.contains(event.relatedTarget as Node | null)) event.currentTarget.removeAttribute("open");
			}}
			onKeyDown={(event) => {
				if (event.key !== "Escape") return;
				close(event.currentTarget);
				event.stopPropagation();
			}}
		>
			<summary title="Saved views" aria-label="Saved views">
				{isFiltered && isSaved() ? "★" : "☆"}
			</summary>
			<ul>
				{views.map((view) => (
					<li key={view.name}>
						<button
							type="button"
							class="link"
							onClick={(event) => {
								close(event.currentTarget);
								openSaved(view);
							}}
						>
							<bdi>{view.name}</bdi>
						</button>
						<button type="button" class="small icon" aria-label={`Forget the view ${view.name}`} onClick={() => forgetView(view.name)}>
							×
						</button>
					</li>
				))}
				<li>
					<button
						type="button"
						onClick={(event) => {
							close(event.currentTarget);
							askSaveView();
						}}
					>
						Save this view…
					</button>
				</li>
			</ul>
		</details>
	);
}
