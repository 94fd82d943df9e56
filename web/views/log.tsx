// A run's log: its end, live while it runs; any part of it, however long it is; a search through all of it.

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { JobDocument } from "../../src/api/documents.ts";
import type { LogStream } from "../../src/core/text/log-piece.ts";
import { app } from "../app.ts";
import { LogReader } from "../net/log-reader.ts";
import { after } from "../outside.ts";
import { useSize } from "../parts/hooks.ts";
import { shown } from "../state/board.ts";
import { lineCount, linesIn } from "../state/log-pieces.ts";
import { kindOfLine } from "../state/log-shown.ts";
import { bytes } from "../state/words.ts";

const LINE = 18;

export function LogView({ job }: { job: JobDocument }) {
	const [stream, setStream] = useState<LogStream>("both");
	const [attempt, setAttempt] = useState<number | null>(null);
	const [as, setAs] = useState<"shown" | "raw">("shown");
	return (
		// After a retry the last run is another one: its log is loaded anew.
		<Log key={`${stream} ${attempt ?? `last ${job.attempt}`} ${as}`} job={job} stream={stream} attempt={attempt} as={as} setAs={setAs}>
			<select
				aria-label="Which run"
				value={attempt ?? ""}
				onChange={(event) => setAttempt(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
			>
				<option value="">last run</option>
				{Array.from({ length: Math.max(0, Math.min(job.attempt, 50) - 1) }, (_, index) => job.attempt - 1 - index).map((n) => (
					<option key={n} value={n}>
						run {n}
					</option>
				))}
			</select>
			<select aria-label="Which output" value={stream} onChange={(event) => setStream(event.currentTarget.value as LogStream)}>
				<option value="both">stdout and stderr</option>
				<option value="stdout">stdout</option>
				<option value="stderr">stderr</option>
			</select>
		</Log>
	);
}

type LogProps = {
	job: JobDocument;
	stream: LogStream;
	attempt: number | null;
	/** An agent's log: rendered for people, or its raw lines of JSON. */
	as: "shown" | "raw";
	setAs: (as: "shown" | "raw") => void;
	children: preact.ComponentChildren;
};

function Log({ job, stream, attempt, as, setAs, children }: LogProps) {
	const { ref, height } = useSize<HTMLDivElement>();
	const [, draw] = useState(0);
	const [top, setTop] = useState(0);
	const [follow, setFollow] = useState(true);
	const [words, setWords] = useState("");
	const [mark, setMark] = useState<number | null>(null);
	const [searched, setSearched] = useState<string | null>(null);
	const shift = useRef(0);
	const following = useRef(true);
	following.current = follow;
	const reader = useMemo(
		() =>
			new LogReader(
				(range, signal) => app.call("job.logs", { id: job.id, stream, ...(attempt === null ? {} : { run: attempt }), ...range }, signal),
				(before) => {
					shift.current += before;
					draw((n) => n + 1);
				},
				{ stream, as },
			),
		[],
	);
	// Loads the end first; while following, then everything new.
	useEffect(() => {
		let open = true;
		const pause = (ms: number) => new Promise<void>((resolve) => void after(ms, resolve));
		void (async () => {
			await reader.toEnd();
			while (open) {
				const { log, ended, problem } = reader.state;
				if (problem !== null) {
					await pause(2000);
					if (open) await reader.toEnd();
				} else if (!following.current || (ended && log.atEnd)) await pause(300);
				else {
					await reader.behind("wait");
					// The beginning of a line alone shows nothing new yet.
					if (reader.state.log === log) await pause(300);
				}
			}
		})();
		return () => {
			open = false;
			reader.close();
		};
	}, [reader]);
	const { log, ended, size, problem, output, reading } = reader.state;
	const isAgents = stream !== "stderr" && output !== "command";
	const total = lineCount(log);
	// When lines are inserted before, the visible lines stay in place; while following, the view stays at the end.
	useLayoutEffect(() => {
		const element = ref.current;
		if (!element) return;
		if (shift.current > 0) {
			element.scrollTop += shift.current * LINE;
			shift.current = 0;
		} else if (follow) element.scrollTop = element.scrollHeight;
	});
	const onScroll = (element: HTMLDivElement) => {
		setTop(element.scrollTop);
		const fromEnd = element.scrollHeight - element.clientHeight - element.scrollTop;
		if (element.scrollTop < 40 * LINE && !log.atStart && total > 0) void reader.before();
		if (fromEnd < 40 * LINE && !log.atEnd) void reader.behind("now");
		if (follow && fromEnd > 3 * LINE && element.scrollTop < top) setFollow(false);
	};
	const goTo = (line: number) => {
		setFollow(false);
		setMark(line);
		ref.current?.scrollTo({ top: Math.max(0, line * LINE - height / 3) });
	};
	const search = async () => {
		if (words === "") return;
		setFollow(false);
		setSearched("searching…");
		const line = await reader
			.find(words, mark === null ? Math.floor(top / LINE) : mark + 1, (n) => setSearched(`searched ${bytes(n)}…`))
			.catch(() => -1);
		setSearched(line < 0 ? "not found" : null);
		if (line >= 0) after(0, () => goTo(line));
	};
	const { from, to } = shown(total, top, height, LINE, 20);
	return (
		<div class="log">
			<div class="tools">
				{children}
				{isAgents ? (
					<label title="The lines of JSON that the agent wrote, as they are">
						<input type="checkbox" checked={as === "raw"} onChange={(event) => setAs(event.currentTarget.checked ? "raw" : "shown")} /> raw
					</label>
				) : null}
				<label>
					<input
						type="checkbox"
						checked={follow}
						onChange={(event) => {
							setFollow(event.currentTarget.checked);
							if (event.currentTarget.checked) void reader.toEnd();
						}}
					/>{" "}
					follow
				</label>
				<button
					type="button"
					class="small"
					onClick={() => {
						setFollow(false);
						void reader.toStart().then(() => ref.current?.scrollTo({ top: 0 }));
					}}
				>
					Start
				</button>
				<button type="button" class="small" onClick={() => void reader.toEnd().then(() => setFollow(true))}>
					End
				</button>
				<form
					class="find"
					onSubmit={(event) => {
						event.preventDefault();
						void search();
					}}
				>
					<input
						type="search"
						placeholder="Search the log"
						aria-label="Search the log"
						value={words}
						onInput={(event) => {
							setWords(event.currentTarget.value);
							setMark(null);
							setSearched(null);
							reader.stopSearch();
						}}
					/>
					<button type="submit" class="small">
						Find
					</button>
				</form>
				<span class="dim" role="status">
					{searched ?? (problem ? "" : `${bytes(size)}${ended ? "" : ", live"}`)}
				</span>
			</div>
			<div
				class="lines"
				ref={ref}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
				tabIndex={0}
				role="log"
				aria-label="Output"
				aria-live="off"
				onScroll={(event) => onScroll(event.currentTarget)}
				onKeyDown={(event) => {
					if (event.key !== "f") return;
					setFollow(!follow);
					event.preventDefault();
					event.stopPropagation();
				}}
			>
				<div style={{ height: `${total * LINE}px` }} class="stretch" />
				<pre style={{ transform: `translateY(${from * LINE}px)` }}>
					{linesIn(log, from, to).map((line, index) => (
						<span key={from + index} class={`${from + index === mark ? "hit" : ""} ${reading === "raw" ? "" : kindOfLine(line)}`}>
							{line}
							{"\n"}
						</span>
					))}
				</pre>
				{total === 0 ? <p class="nothing over">{problem ?? (ended ? "It has written nothing here." : "Nothing yet.")}</p> : null}
			</div>
		</div>
	);
}
