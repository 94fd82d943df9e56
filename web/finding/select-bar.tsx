// What can be done with the selected jobs; shown while any are selected.

import { app } from "../app.ts";
import { type BoardColumn, COLUMNS } from "../state/column.ts";
import type { PageRow } from "../state/row.ts";
import { count } from "../state/words.ts";
import { askBulk, BULK } from "./bulk.ts";
import { selection } from "./selection.ts";

/** `board`: the rows in sight, for *all that match*. */
export function SelectBar({ board, found }: { board: Record<BoardColumn, readonly PageRow[]>; found: readonly PageRow[] }) {
	if (selection.size === 0 || !app.mayAct) return null;
	const shown = new Map(COLUMNS.flatMap((column) => board[column]).map((row) => [row.id, row]));
	const far = new Map(found.map((row) => [row.id, row]));
	const rows = selection.all().flatMap((id) => app.jobs.rows.get(id) ?? far.get(id) ?? shown.get(id) ?? []);
	return (
		<section class="selected" aria-label="Selected jobs">
			<b class="num">{count(rows.length)} selected</b>
			{shown.size > rows.length ? (
				<button type="button" class="small" onClick={() => selection.select(shown.keys())}>
					Select all {count(shown.size)} that match
				</button>
			) : null}
			<span class="acts">
				{BULK.map((action) => {
					const fit = rows.filter(action.fits).length;
					return (
						<button
							key={action.words}
							type="button"
							class="small"
							disabled={fit === 0}
							onClick={() => askBulk(action, rows, () => selection.clear())}
						>
							{action.words}… <span class="dim num">{count(fit)}</span>
						</button>
					);
				})}
			</span>
			<button type="button" class="small" onClick={() => selection.clear()} title="Select nothing (Escape)">
				Clear
			</button>
		</section>
	);
}
