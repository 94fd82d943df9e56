// The board: jobs by status, each with why it waits, its lane, its cost and its duration. Order, reasons and counts are the daemon's.

import { Component } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../app.ts";
import { SelectBar } from "../finding/select-bar.tsx";
import { selection } from "../finding/selection.ts";
import { after } from "../outside.ts";
import { JobLink, Loading, Problem, Running, Span, StatusDot } from "../parts/bits.tsx";
import { useNews, useQuery } from "../parts/hooks.ts";
import { Virtual } from "../parts/virtual.tsx";
import { ABOUT, type BoardRows, filtered, matcher, TITLES } from "../state/board.ts";
import { type BoardColumn, COLUMNS, columnOf } from "../state/column.ts";
import { parseQuery, searchesOf } from "../state/query.ts";
import type { ToldQueue } from "../state/queue.ts";
import { FIELDS, type PageRow, rowOf } from "../state/row.ts";
import { count, dollars } from "../state/words.ts";
import { First } from "./first.tsx";

const CARD = 66;

export function Board() {
	useNews("jobs", "place", "link");
	const { filter } = app.place;
	const { version } = app.jobs;
	const { q, lane, repo, batch, status } = filter;
	const { queue } = app;
	const far = useFound(q);
	const board = useMemo(() => {
		const known = { ...filtered(app.jobs.columns, filter) };
		known.queued = queue.inOrder(known.queued);
		return withFound(known, far.rows.filter(matcher(filter)));
	}, [version, queue, far.rows, q, lane, repo, batch, status]);
	const shown = useRef(board);
	shown.current = board;
	const [chosen, choose] = useState<BoardColumn | null>(null);
	if (app.link.phase === "loading" && app.jobs.rows.size === 0)
		return app.link.problem === null ? <Loading what="jobs" /> : <Problem text={`${app.link.problem}. It is tried again by itself.`} />;
	if (app.jobs.rows.size === 0) return <First />;
	const total = COLUMNS.reduce((sum, column) => sum + board[column].length, 0);
	const columns = COLUMNS.filter((column) => column !== "asks" || board.asks.length > 0);
	// On a narrow screen, which shows one column: the most important one, until a person chooses another.
	const open =
		chosen && columns.includes(chosen)
			? chosen
			: (columns.find((one) => (one === "asks" || one === "running") && board[one].length > 0) ??
				columns.find((one) => board[one].length > 0) ??
				"queued");
	const isFiltered = Object.values(filter).some(Boolean);
	return (
		<>
			<h1 class="unseen">Board</h1>
			<div class="pick" role="tablist" aria-label="Columns">
				{columns.map((column) => (
					<button key={column} type="button" role="tab" aria-selected={column === open} onClick={() => choose(column)}>
						{TITLES[column]} <Counted column={column} rows={board[column]} isFiltered={isFiltered} />
					</button>
				))}
			</div>
			{total === 0 ? <Nothing isSearching={far.isSearching} /> : null}
			<SelectBar board={board} found={far.rows} />
			<div class={selection.size > 0 ? "board picking" : "board"} data-columns={columns.length}>
				{columns.map((column) => (
					<ColumnList
						key={column}
						column={column}
						rows={board[column]}
						queue={queue}
						open={column === open ? "open" : "shut"}
						isFiltered={isFiltered}
						lists={() => COLUMNS.map((one) => shown.current[one])}
					/>
				))}
			</div>
		</>
	);
}

const NONE: PageRow[] = [];

/** Jobs that only the daemon has: those that ended long ago, and those with a word far behind in their prompt. Asked for a moment after the last letter. */
function useFound(q: string): { rows: PageRow[]; isSearching: boolean } {
	const searches = JSON.stringify(searchesOf(parseQuery(q)));
	const [asked, ask] = useState("[]");
	useEffect(() => after(searches === "[]" ? 0 : 250, () => ask(searches)), [searches]);
	const { value, problem } = useQuery(
		`search ${asked}`,
		async () => {
			const texts: string[] = JSON.parse(asked);
			return Promise.all(texts.map((text) => app.call("job.search", { text, limit: 200, fields: [...FIELDS] })));
		},
		asked,
	);
	const rows = useMemo(
		() => (value ?? []).flatMap(({ jobs, seq }) => jobs.map((job) => rowOf(job, seq, Number.POSITIVE_INFINITY))),
		[value],
	);
	return {
		rows: rows.length === 0 ? NONE : rows,
		isSearching: searches !== "[]" && (asked !== searches || value === null) && problem === null,
	};
}

/** A job that the page knows is shown as it stands now. */
function withFound(board: BoardRows, found: readonly PageRow[]): BoardRows {
	const shown = new Set(COLUMNS.flatMap((column) => board[column].map(({ id }) => id)));
	for (const far of found) {
		if (shown.has(far.id)) continue;
		shown.add(far.id);
		const row = app.jobs.rows.get(far.id) ?? far;
		const column = columnOf(row);
		board[column] = [...board[column], row];
	}
	return board;
}

function Nothing({ isSearching }: { isSearching: boolean }) {
	if (isSearching)
		return (
			<p class="none" role="status">
				Searching all jobs…
			</p>
		);
	return (
		<p class="none">
			No job fits this search.{" "}
			<button type="button" class="small" onClick={() => app.go({ filter: { q: "", lane: null, repo: null, batch: null, status: null } })}>
				Show all
			</button>
		</p>
	);
}

/** How many jobs the column has; where the page has not loaded all of them, it says so. */
function Counted({ column, rows, isFiltered }: { column: BoardColumn; rows: readonly PageRow[]; isFiltered: boolean }) {
	const all = isFiltered ? undefined : app.queue.countOf(column);
	const isPart = all !== undefined && rows.length < all && (column === "done" || column === "failed");
	return (
		<span class="num dim" title={isPart ? `the newest ${count(rows.length)} are listed; a search finds all of them` : undefined}>
			{count(column === "done" || column === "failed" ? Math.max(all ?? 0, rows.length) : rows.length)}
		</span>
	);
}

type ColumnProps = {
	column: BoardColumn;
	rows: PageRow[];
	queue: ToldQueue;
	open: "open" | "shut";
	isFiltered: boolean;
	lists: () => PageRow[][];
};

function ColumnList({ column, rows, queue, open, isFiltered, lists }: ColumnProps) {
	return (
		<section class={`column ${column} ${open}`} aria-label={TITLES[column]}>
			<h2 title={ABOUT[column]}>
				{TITLES[column]} <Counted column={column} rows={rows} isFiltered={isFiltered} />
			</h2>
			{rows.length === 0 ? (
				<p class="nothing">none</p>
			) : (
				<Virtual
					items={rows}
					each={CARD}
					label={TITLES[column]}
					place={`board ${column}`}
					keyOf={(row) => row.id}
					draw={(row) => <Card row={row} word={queue.wordOf(row)} picked={selection.has(row.id)} lists={lists} />}
				/>
			)}
		</section>
	);
}

type CardProps = { row: PageRow; word: string | null; picked: boolean; lists: () => PageRow[][] };

/** Redrawn only when its own job has changed: thousands of other jobs change meanwhile. */
class Card extends Component<CardProps> {
	override shouldComponentUpdate({ row, word, picked }: CardProps): boolean {
		return row !== this.props.row || word !== this.props.word || picked !== this.props.picked;
	}

	override render() {
		const { row, word, picked, lists } = this.props;
		const reason = word ?? row.reason;
		const where = [row.repo, row.batch, row.agent].filter(Boolean).join(" · ");
		return (
			<article class={`card ${row.status}${picked ? " picked" : ""}`}>
				{app.mayAct ? (
					<input
						type="checkbox"
						class="tick"
						checked={picked}
						tabIndex={-1}
						aria-label={`Select job ${row.id}`}
						title="Select (v); with Shift up to here"
						onClick={(event) => (event.shiftKey ? selection.extend(row.id, lists()) : selection.toggle(row.id))}
					/>
				) : null}
				<JobLinkCard row={row} />
				<p class="why" title={reason ?? ""}>
					{reason ?? (row.ready ? "in the queue" : "")}
				</p>
				<p class="facts">
					<LaneChip lane={row.lane} />
					<span class="where dim" title={where}>
						{where}
					</span>
					<span class="end">
						{row.costMicros ? <span class="num dim">{dollars(row.costMicros)}</span> : null}
						<Took row={row} />
					</span>
				</p>
			</article>
		);
	}
}

const JobLinkCard = ({ row }: { row: PageRow }) => (
	<p class="label">
		<StatusDot status={row.status} />
		<JobLink id={row.id} class="title" card>
			<span class="id num">{row.id}</span> {row.label}
		</JobLink>
	</p>
);

function LaneChip({ lane }: { lane: string }) {
	return (
		<button type="button" class="chip lane" tabIndex={-1} title={`Only lane ${lane}`} onClick={() => app.go({ filter: { lane } })}>
			{lane}
		</button>
	);
}

function Took({ row }: { row: PageRow }) {
	if (row.status === "running" && row.startedAt !== null) return <Running since={row.startedAt} />;
	if (row.endedAt !== null && row.startedAt !== null) return <Span ms={row.endedAt - row.startedAt} />;
	if (row.endedAt !== null) return null;
	return (
		<span class="dim">
			<Running since={row.readyAt ?? row.createdAt} />
		</span>
	);
}
