// The text of a row of a log, in its colours, with what is searched for marked.

import { type AnsiSpan, PLAIN } from "../../state/log/ansi.ts";
import { looksOf } from "../../state/log/colours.ts";
import type { LogRow } from "../../state/log/rows.ts";

type Cut = AnsiSpan & { isMarked: boolean };

export function LogText({ row, words = "" }: { row: Pick<LogRow, "text" | "spans">; words?: string }) {
	const marks = marksIn(row.text, words);
	if (row.spans === null && marks.length === 0) return <>{row.text}</>;
	const cuts: Cut[] = [];
	let [at, next] = [0, 0];
	for (const { text, style } of row.spans ?? [{ text: row.text, style: PLAIN }]) {
		for (let from = 0; from < text.length; ) {
			while (next < marks.length && (marks[next] as number) + words.length <= at + from) next++;
			const mark = (marks[next] ?? Number.POSITIVE_INFINITY) - at;
			const isMarked = mark <= from;
			const to = Math.min(text.length, isMarked ? mark + words.length : mark);
			cuts.push({ text: text.slice(from, to), style, isMarked });
			from = to;
		}
		at += text.length;
	}
	return (
		<>
			{cuts.map(({ text, style, isMarked }, index) =>
				isMarked ? (
					<mark key={index}>{text}</mark>
				) : style === PLAIN ? (
					text
				) : (
					<span key={index} {...looksOf(style)}>
						{text}
					</span>
				),
			)}
		</>
	);
}

/** Where the words occur; at most a few hundred places. */
function marksIn(text: string, words: string): number[] {
	if (words === "") return [];
	const [low, wanted] = [text.toLowerCase(), words.toLowerCase()];
	const found: number[] = [];
	// A letter whose small form is longer would shift the marks: then none are drawn.
	if (low.length !== text.length) return found;
	for (let at = low.indexOf(wanted); at >= 0 && found.length < 300; at = low.indexOf(wanted, at + wanted.length)) found.push(at);
	return found;
}
