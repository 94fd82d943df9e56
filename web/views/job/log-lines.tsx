// The lines of a log: only those in sight are in the page. Numbers are links; sections and tools fold.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogReader } from "../../net/log-reader.ts";
import { useSize } from "../../parts/hooks.ts";
import { shown } from "../../state/board.ts";
import {
	indexOfPlace,
	isFolded,
	keyOf,
	type LogLayout,
	type LogShape,
	layoutOf,
	lineOfRow,
	placeOf,
	type RowPlace,
	rowAtLine,
	rowOfPlace,
} from "../../state/log/layout.ts";
import { hashOf, type LineLink } from "../../state/log/line-link.ts";
import type { LogRow } from "../../state/log/rows.ts";
import { moment } from "../../state/words.ts";
import { LogText } from "./log-text.tsx";
import type { LogSight } from "./use-log.ts";

const LINE = 18;

type LinesProps = {
	reader: LogReader;
	shape: Pick<LogShape, "toggled" | "tools">;
	toggle: (key: string) => void;
	isWrapped: boolean;
	follow: boolean;
	setFollow: (follow: boolean) => void;
	sight: { current: LogSight };
	hit: RowPlace | null;
	words: string;
	chosen: LineLink | null;
	choose: (line: number, how: "one" | "range") => void;
	link: Pick<LineLink, "stream" | "as">;
};

export function LogLines(props: LinesProps) {
	const { reader, shape, isWrapped, follow, sight } = props;
	const { ref, width, height } = useSize<HTMLDivElement>();
	const [top, setTop] = useState(0);
	const [corrected, correct] = useState(0);
	const { blocks, ended, problem, note } = reader.state;
	const rows = blocks.reduce((sum, one) => sum + one.rows.length, 0);
	const numbers = useNumbers(reader);
	const gutter = Math.max(3, String(numbers.highest).length) + 3;
	const hasTimes = useMemo(() => blocks.some((one) => one.rows.some(({ at }) => at !== null)), [blocks]);
	const letter = useLetter(ref);
	const columns =
		isWrapped && letter > 0 ? Math.max(20, Math.floor((width - 20 - (gutter + (hasTimes ? 10 : 0)) * letter) / letter) - 1) : null;
	const seen = useMemo(() => new WeakMap<LogRow, number>(), [columns]);
	const layout = useMemo(() => layoutOf(blocks, { ...shape, columns, seen }), [blocks, columns, shape.toggled, shape.tools, corrected]);
	useSight(ref, layout, props);
	const { from, to } = shown(layout.total, top, height, LINE, 20);
	const [first, last] = [rowAtLine(layout, from), rowAtLine(layout, to)];
	useMeasured(ref, { columns, seen }, () => correct((n) => n + 1), { layout, first });
	const onScroll = (element: HTMLDivElement) => {
		setTop(element.scrollTop);
		const fromEnd = element.scrollHeight - element.clientHeight - element.scrollTop;
		const at = rowAtLine(layout, Math.floor(element.scrollTop / LINE));
		const isMoved = element.scrollTop !== top;
		sight.current = { ...sight.current, at: placeOf(layout, at), dy: element.scrollTop - lineOfRow(layout, at) * LINE };
		if (element.scrollTop < 40 * LINE && !reader.state.atStart && rows > 0) void reader.before();
		if (fromEnd < 40 * LINE && !reader.state.atEnd) void reader.behind("now");
		if (follow && fromEnd > 3 * LINE && element.scrollTop < top) props.setFollow(false);
		else if (!follow && isMoved && element.scrollTop > top && fromEnd < 2 && reader.state.atEnd) props.setFollow(true);
	};
	return (
		<div
			class={`lines ${isWrapped ? "wrapped" : ""}`}
			ref={ref}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
			tabIndex={0}
			role="log"
			aria-label="Output"
			aria-live="off"
			onScroll={(event) => onScroll(event.currentTarget)}
			onCopy={copyWithoutWraps}
		>
			<div style={{ height: `${layout.total * LINE}px` }} class="stretch" />
			<pre style={{ transform: `translateY(${lineOfRow(layout, first) * LINE}px)`, "--gutter": `${gutter}ch` }}>
				{rows === 0
					? null
					: Array.from({ length: Math.max(0, Math.min(last, layout.count - 1) - first + 1) }, (_, n) => (
							<Row key={first + n} at={first + n} layout={layout} hasTimes={hasTimes} numberOf={numbers.of} {...props} />
						))}
			</pre>
			{rows === 0 ? <p class="nothing over">{problem ?? note ?? (ended ? "It has written nothing here." : "Nothing yet.")}</p> : null}
		</div>
	);
}

/** The width of a letter. */
function useLetter(ref: { current: HTMLDivElement | null }): number {
	const [letter, set] = useState(0);
	useEffect(() => {
		const probe = document.createElement("span");
		probe.textContent = "0".repeat(100);
		probe.style.visibility = "hidden";
		probe.style.position = "absolute";
		ref.current?.querySelector("pre")?.append(probe);
		set(probe.getBoundingClientRect().width / 100);
		probe.remove();
	}, []);
	return letter;
}

/** The number of each row's line, as far as lines were counted. */
function useNumbers(reader: LogReader): { of: (place: RowPlace) => number | null; highest: number } {
	const { blocks, bases } = reader.state;
	return useMemo(() => {
		const numbers = new Map<number, Int32Array>();
		let highest = 0;
		for (const { index, rows } of blocks) {
			const base = bases[index];
			if (base === undefined) continue;
			const own = new Int32Array(rows.length);
			let line = base;
			for (let row = 0; row < rows.length; row++) own[row] = rows[row]?.isMore ? 0 : ++line;
			numbers.set(index, own);
			highest = line;
		}
		return { highest, of: ({ block, row }: RowPlace) => numbers.get(block)?.[row] || null };
	}, [blocks, bases]);
}

/** When lines are inserted before those in sight, these stay in place; while following, the view stays at the end. */
function useSight(ref: { current: HTMLDivElement | null }, layout: LogLayout, { sight, follow }: LinesProps): void {
	const jumped = useRef(sight.current.jump);
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		const { at, dy, jump } = sight.current;
		const isJump = jump !== jumped.current;
		if (follow && !isJump) element.scrollTop = element.scrollHeight;
		else if (at) {
			const index = indexOfPlace(layout, at);
			if (index < 0) return;
			const top = lineOfRow(layout, index) * LINE;
			element.scrollTop = isJump ? Math.max(0, top - element.clientHeight * dy) : top + dy;
			jumped.current = jump;
		}
	}, [layout, follow, sight.current.jump]);
}

/** Wrapped rows that take more or fewer lines than their letters say: wide letters, fonts that lack them. */
function useMeasured(
	ref: { current: HTMLDivElement | null },
	{ columns, seen }: Pick<LogShape, "columns" | "seen">,
	changed: () => void,
	{ layout, first }: { layout: LogLayout; first: number },
): void {
	useLayoutEffect(() => {
		if (columns === null || !ref.current) return;
		let differs = false;
		for (const element of ref.current.querySelectorAll<HTMLElement>("[data-at]")) {
			const at = Number(element.dataset.at);
			const place = placeOf(layout, at);
			const row = place && rowOfPlace(layout.blocks, place);
			const text = element.querySelector<HTMLElement>(".text");
			if (!row || !text) continue;
			const lines = Math.max(1, Math.round(text.offsetHeight / LINE));
			if (lines === lineOfRow(layout, at + 1) - lineOfRow(layout, at)) continue;
			seen.set(row, lines);
			differs = true;
		}
		if (differs) changed();
	}, [layout, first, columns]);
}

type RowProps = LinesProps & { at: number; layout: LogLayout; hasTimes: boolean; numberOf: (place: RowPlace) => number | null };

function Row({ at, layout, hasTimes, numberOf, ...props }: RowProps) {
	const { shape, toggle, hit, words, chosen, choose, link, reader } = props;
	const place = placeOf(layout, at);
	const row = place && rowOfPlace(layout.blocks, place);
	const lines = lineOfRow(layout, at + 1) - lineOfRow(layout, at);
	if (!place || !row || lines === 0) return null;
	const line = numberOf(place);
	const isHit = hit?.block === place.block && hit.row === place.row;
	const isChosen =
		chosen !== null && line !== null && line >= chosen.from && line <= chosen.to && chosen.stream === link.stream && chosen.as === link.as;
	const folds = row.fold !== null && row.fold !== "end";
	const folded = folds && isFolded(row, place, shape);
	const kind = reader.state.reading === "raw" && row.kind !== "aside" ? "" : row.kind;
	return (
		<div
			class={`row ${row.stream === "stderr" ? "err" : ""} ${isHit ? "hit" : ""} ${isChosen ? "chosen" : ""} ${kind} ${row.fold ?? ""}`}
			data-at={at}
			style={{ height: `${lines * LINE}px` }}
		>
			{line === null ? (
				<span class="ln" />
			) : (
				// biome-ignore lint/a11y/useAnchorContent: its number is drawn by the style sheet, so that it is not copied with the text
				<a
					class="ln"
					tabIndex={-1}
					href={hashOf({ from: line, to: line, ...link })}
					data-n={line}
					aria-label={`Line ${line}`}
					onClick={(event) => {
						if (event.metaKey || event.ctrlKey) return;
						event.preventDefault();
						choose(line, event.shiftKey ? "range" : "one");
					}}
				/>
			)}
			{hasTimes ? <span class="tm" data-t={row.at === null ? "" : moment(row.at, row.at)} /> : null}
			{folds ? (
				<button
					type="button"
					class="fold"
					tabIndex={-1}
					aria-expanded={!folded}
					aria-label={folded ? "Unfold" : "Fold"}
					onClick={() => toggle(keyOf(place))}
				>
					{folded ? "▸" : "▾"}
				</button>
			) : null}
			<span class="text">
				<LogText row={row} words={words} />
				{"\n"}
			</span>
		</div>
	);
}

/** The selected text, without numbers, times and marks for folding. */
function copyWithoutWraps(event: ClipboardEvent): void {
	const selection = getSelection();
	const root = event.currentTarget as HTMLElement;
	if (!selection || selection.rangeCount === 0 || selection.isCollapsed) return;
	const range = selection.getRangeAt(0);
	const lines: string[] = [];
	for (const text of root.querySelectorAll<HTMLElement>(".text")) {
		if (!range.intersectsNode(text)) continue;
		const own = document.createRange();
		own.selectNodeContents(text);
		if (range.compareBoundaryPoints(Range.START_TO_START, own) > 0) own.setStart(range.startContainer, range.startOffset);
		if (range.compareBoundaryPoints(Range.END_TO_END, own) < 0) own.setEnd(range.endContainer, range.endOffset);
		lines.push(own.toString());
	}
	event.clipboardData?.setData("text/plain", lines.join("").replace(/\n$/, ""));
	event.preventDefault();
}
