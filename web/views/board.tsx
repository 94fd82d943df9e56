// The board: jobs by status, each with why it waits, its lane, its cost and its duration.

import { Component } from "preact";
import { useMemo, useState } from "preact/hooks";
import { app } from "../app.ts";
import { JobLink, Loading, Running, Span, StatusDot } from "../parts/bits.tsx";
import { useNews } from "../parts/hooks.ts";
import { Virtual } from "../parts/virtual.tsx";
import { ABOUT, type BoardColumn, type BoardRows, COLUMNS, filtered, TITLES } from "../state/board.ts";
import type { PageRow } from "../state/row.ts";
import { count, dollars } from "../state/words.ts";
import { First } from "./first.tsx";

const CARD = 66;

export function Board() {
	useNews("jobs", "place", "link");
	const { filter } = app.place;
	const { version } = app.jobs;
	const { q, lane, repo, batch, status } = filter;
	const board = useMemo(() => ({ ...filtered(app.jobs.columns, filter) }), [version, q, lane, repo, batch, status]);
	const { held } = app;
	const [chosen, choose] = useState<BoardColumn | null>(null);
	if (app.link.phase === "loading" && app.jobs.rows.size === 0) return <Loading what="jobs" />;
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
	return (
		<>
			<h1 class="unseen">Board</h1>
			<div class="pick" role="tablist" aria-label="Columns">
				{columns.map((column) => (
					<button key={column} type="button" role="tab" aria-selected={column === open} onClick={() => choose(column)}>
						{TITLES[column]} <span class="num dim">{count(board[column].length)}</span>
					</button>
				))}
			</div>
			{total === 0 ? (
				<p class="none">
					No job fits this search.{" "}
					<button
						type="button"
						class="small"
						onClick={() => app.go({ filter: { q: "", lane: null, repo: null, batch: null, status: null } })}
					>
						Show all
					</button>
				</p>
			) : null}
			<div class="board" data-columns={columns.length}>
				{columns.map((column) => (
					<ColumnList key={column} column={column} rows={board[column]} held={held} open={column === open ? "open" : "shut"} />
				))}
			</div>
		</>
	);
}

type ColumnProps = { column: BoardColumn; rows: BoardRows[BoardColumn]; held: (row: PageRow) => string | null; open: "open" | "shut" };

function ColumnList({ column, rows, held, open }: ColumnProps) {
	return (
		<section class={`column ${column} ${open}`} aria-label={TITLES[column]}>
			<h2 title={ABOUT[column]}>
				{TITLES[column]} <span class="num dim">{count(rows.length)}</span>
			</h2>
			{rows.length === 0 ? (
				<p class="nothing">none</p>
			) : (
				<Virtual
					items={rows}
					each={CARD}
					label={TITLES[column]}
					keyOf={(row) => row.id}
					draw={(row) => <Card row={row} held={held(row)} />}
				/>
			)}
		</section>
	);
}

/** Redrawn only when its own job has changed: thousands of other jobs change meanwhile. */
class Card extends Component<{ row: PageRow; held: string | null }> {
	override shouldComponentUpdate(next: { row: PageRow; held: string | null }): boolean {
		return next.row !== this.props.row || next.held !== this.props.held;
	}

	override render() {
		const { row, held } = this.props;
		const reason = held ?? row.reason;
		const where = [row.repo, row.batch, row.agent].filter(Boolean).join(" · ");
		return (
			<article class={`card ${row.status}`}>
				<JobLinkCard row={row} />
				<p class="why" title={reason ?? ""}>
					{reason ?? (row.ready ? "ready" : "")}
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
