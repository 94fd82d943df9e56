// The changes of one file: unified or split, in the colours of its language, with comments on its lines.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { app } from "../../app.ts";
import { type CodeState, type CodeToken, highlight, languageOf } from "../../state/diff/highlight.ts";
import { type DiffFile, type DiffLine, linesOf, splitRows, visibleSigns } from "../../state/diff/patch.ts";
import type { ReviewComment } from "../../state/diff/review.ts";
import { count } from "../../state/words.ts";

/** Lines of a file that are shown at first, and with each request for more. */
const LINES = 1000;

export type FileProps = {
	patch: string;
	file: DiffFile;
	view: "unified" | "split";
	isOpen: boolean;
	setOpen: (isOpen: boolean) => void;
	isViewed: boolean;
	setViewed: (isViewed: boolean) => void;
	comments: readonly ReviewComment[];
	/** Null: comments cannot be written. */
	comment: ((comment: ReviewComment) => void) | null;
};

export function OneFile(props: FileProps) {
	const { file, isOpen, setOpen, isViewed, setViewed, comments } = props;
	const { path, before, status, isBinary, plus, minus } = file;
	return (
		<article class="file" data-file={path} aria-label={path}>
			<header>
				<button
					type="button"
					class="small fold"
					aria-expanded={isOpen}
					aria-label={isOpen ? `Fold ${path}` : `Unfold ${path}`}
					onClick={() => setOpen(!isOpen)}
				>
					{isOpen ? "▾" : "▸"}
				</button>
				<code class="path">
					{before === null ? "" : `${visibleSigns(before)} → `}
					{visibleSigns(path)}
				</code>
				{status === "changed" ? null : <span class="chip">{status}</span>}
				<span class="num plus">+{count(plus)}</span>
				<span class="num minus">−{count(minus)}</span>
				{comments.length > 0 ? <span class="chip">{comments.length === 1 ? "1 comment" : `${comments.length} comments`}</span> : null}
				{props.comment ? <CommentByNumber {...props} comment={props.comment} /> : null}
				<label class="viewed">
					<input type="checkbox" checked={isViewed} onChange={(event) => setViewed(event.currentTarget.checked)} /> viewed
				</label>
			</header>
			{isOpen ? isBinary ? <p class="dim empty">A binary file.</p> : <Lines {...props} /> : null}
		</article>
	);
}

/** For keys alone: the line is named by its number. */
function CommentByNumber({ file, comment, setOpen }: FileProps & { comment: (comment: ReviewComment) => void }) {
	return (
		<button
			type="button"
			class="small"
			onClick={() =>
				app.confirm({
					title: `Comment on ${file.path}`,
					text: "The number of a line after the change, then what you want to say.",
					yes: "Add the comment",
					grave: false,
					field: { label: "Like 12: use the lock", value: "", needed: true, lines: 3 },
					act: (words) => {
						const [, line, text = ""] = /^\s*(\d{1,9})\s*:\s*([\s\S]+)$/.exec(words) ?? [];
						if (line === undefined) return app.say("failed", `A comment is like 12: use the lock, not “${words.slice(0, 100)}”.`);
						comment({ path: file.path, side: "new", line: Number(line), text });
						setOpen(true);
					},
				})
			}
		>
			Comment…
		</button>
	);
}

function Lines(props: FileProps) {
	const { patch, file, view } = props;
	const [most, setMost] = useState(LINES);
	const lines = useMemo(() => linesOf(patch, file, most + 1), [patch, file, most]);
	const shown = lines.length > most ? lines.slice(0, most) : lines;
	const tokens = useMemo(() => coloured(shown, file.path), [lines, file.path]);
	const [written, write] = useState<Place | null>(null);
	const talk = { ...props, written, write, tokens };
	if (shown.length === 0) return <p class="dim empty">No lines have changed.</p>;
	return (
		<>
			{/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys */}
			<div class="code" tabIndex={0}>
				<table class={view}>
					<tbody>{view === "split" ? <Split lines={shown} {...talk} /> : <Unified lines={shown} {...talk} />}</tbody>
				</table>
			</div>
			{lines.length > most ? (
				<button type="button" class="small more" onClick={() => setMost(most + LINES)}>
					Show {count(LINES)} lines more
				</button>
			) : null}
		</>
	);
}

type Place = Omit<ReviewComment, "text">;
/** `written`: the line on which a comment is being written. */
type TalkProps = FileProps & { written: Place | null; write: (place: Place | null) => void; tokens: Map<DiffLine, CodeToken[]> };

/** The old side and the new one are read apart, each from hunk to hunk. */
function coloured(lines: readonly DiffLine[], path: string): Map<DiffLine, CodeToken[]> {
	const found = new Map<DiffLine, CodeToken[]>();
	const language = languageOf(path);
	let states: Record<"old" | "new", CodeState> = { old: null, new: null };
	for (const line of lines) {
		if (line.kind === "hunk") states = { old: null, new: null };
		if (line.kind === "hunk" || line.kind === "note") continue;
		const text = visibleSigns(line.text);
		const side = line.kind === "minus" ? "old" : "new";
		const read = language ? highlight(text, language, states[side]) : { tokens: [{ text, kind: "" as const }], after: null };
		found.set(line, read.tokens);
		if (line.kind === "same") states = { old: read.after, new: read.after };
		else states[side] = read.after;
	}
	return found;
}

const Text = ({ line, tokens }: { line: DiffLine; tokens: TalkProps["tokens"] }) => (
	<>
		{(tokens.get(line) ?? [{ text: line.text, kind: "" as const }]).map(({ text, kind }, index) =>
			kind === "" ? (
				text
			) : (
				<span key={index} class={`c-${kind}`}>
					{text}
				</span>
			),
		)}
	</>
);

function Unified({ lines, ...talk }: TalkProps & { lines: readonly DiffLine[] }) {
	return (
		<>
			{lines.map((line, index) =>
				line.kind === "hunk" || line.kind === "note" ? (
					<tr key={index} class={line.kind}>
						<td colSpan={3}>{visibleSigns(line.text)}</td>
					</tr>
				) : (
					<>
						<tr key={index} class={line.kind}>
							<LineNumber of={line.old} side="old" {...talk} />
							<LineNumber of={line.new} side="new" {...talk} />
							<td class="text">
								<span class="sign">{line.kind === "plus" ? "+" : line.kind === "minus" ? "−" : " "}</span>
								<Text line={line} tokens={talk.tokens} />
							</td>
						</tr>
						<Below line={line} span={3} {...talk} />
					</>
				),
			)}
		</>
	);
}

function Split({ lines, ...talk }: TalkProps & { lines: readonly DiffLine[] }) {
	return (
		<>
			{splitRows(lines).map(({ left, right }, index) => {
				const both = left ?? right;
				if (both?.kind === "hunk" || both?.kind === "note")
					return (
						<tr key={index} class={both.kind}>
							<td colSpan={4}>{visibleSigns(both.text)}</td>
						</tr>
					);
				return (
					<>
						<tr key={index}>
							<LineNumber of={left?.old ?? null} side="old" {...talk} />
							<td class={`text ${left?.kind === "minus" ? "minus" : left ? "" : "none"}`}>
								{left ? <Text line={left} tokens={talk.tokens} /> : null}
							</td>
							<LineNumber of={right?.new ?? null} side="new" {...talk} />
							<td class={`text ${right?.kind === "plus" ? "plus" : right ? "" : "none"}`}>
								{right ? <Text line={right} tokens={talk.tokens} /> : null}
							</td>
						</tr>
						{left && left.kind === "minus" ? <Below line={left} span={4} {...talk} /> : null}
						{right ? <Below line={right} span={4} {...talk} /> : null}
					</>
				);
			})}
		</>
	);
}

/** A number of a line; a click opens a comment on it. */
function LineNumber({ of, side, file, comment, write }: TalkProps & { of: number | null; side: "old" | "new" }) {
	if (of === null) return <td class="ln" />;
	return (
		<td class="ln num">
			{comment ? (
				<button
					type="button"
					tabIndex={-1}
					aria-label={`Comment on line ${of}${side === "old" ? " before the change" : ""}`}
					onClick={() => write({ path: file.path, side, line: of })}
				>
					{of}
				</button>
			) : (
				of
			)}
		</td>
	);
}

const placesOf = (path: string, line: DiffLine): Place[] => [
	...(line.new === null ? [] : [{ path, side: "new" as const, line: line.new }]),
	...(line.old === null ? [] : [{ path, side: "old" as const, line: line.old }]),
];

/** The comment on a line, or the box in which it is written. */
function Below({ line, span, file, comments, written, write, comment }: TalkProps & { line: DiffLine; span: number }) {
	return (
		<>
			{placesOf(file.path, line).map((place) => {
				const found = comments.find((one) => one.side === place.side && one.line === place.line);
				const isOpen = written?.side === place.side && written.line === place.line;
				if (!found && !isOpen) return null;
				return (
					<tr key={place.side} class="comment">
						<td colSpan={span}>
							{isOpen && comment ? (
								<CommentBox
									place={place}
									text={found?.text ?? ""}
									save={(text) => {
										comment({ ...place, text });
										write(null);
									}}
									cancel={() => write(null)}
								/>
							) : (
								<div class="said">
									<p>{found?.text}</p>
									<button type="button" class="small" onClick={() => write(place)}>
										Edit
									</button>
								</div>
							)}
						</td>
					</tr>
				);
			})}
		</>
	);
}

function CommentBox({ place, text, save, cancel }: { place: Place; text: string; save: (text: string) => void; cancel: () => void }) {
	const [words, setWords] = useState(text);
	const box = useRef<HTMLTextAreaElement>(null);
	useEffect(() => box.current?.focus(), []);
	return (
		<form
			class="comment-box"
			onSubmit={(event) => {
				event.preventDefault();
				save(words);
			}}
			onKeyDown={(event) => {
				if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.requestSubmit();
				if (event.key !== "Escape") return;
				event.stopPropagation();
				cancel();
			}}
		>
			<textarea
				ref={box}
				rows={3}
				aria-label={`Comment on line ${place.line}`}
				placeholder="What should be different; Ctrl Enter adds it"
				value={words}
				onInput={(event) => setWords(event.currentTarget.value)}
			/>
			<button type="submit" class="small main">
				{text === "" ? "Add" : words.trim() === "" ? "Remove" : "Change"}
			</button>
			<button type="button" class="small" onClick={cancel}>
				Cancel
			</button>
		</form>
	);
}
