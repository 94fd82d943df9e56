// A run's log: its end, live while it runs; any part of it, however long it is; links to lines, a search through all of it, a copy, a download.

import { useEffect, useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import type { LogStream } from "../../../src/core/text/log-piece.ts";
import { app } from "../../app.ts";
import { MOST_HITS } from "../../net/log-search.ts";
import { after } from "../../outside.ts";
import { copyText, saveFile } from "../../parts/clipboard.ts";
import { isTyping } from "../../parts/keys.ts";
import { lineLinkOf } from "../../state/log/line-link.ts";
import { bytes, count } from "../../state/words.ts";
import { LogLines } from "./log-lines.tsx";
import { COUNTED_BYTES, type LogChoice, useCounting, useFolds, useKept, useLog } from "./use-log.ts";

type Log = ReturnType<typeof useLog>;

export function LogView({ job }: { job: JobDocument }) {
	const linked = lineLinkOf(location.hash);
	const [stream, setStream] = useState<LogStream>(linked?.stream ?? "both");
	const [as, setAs] = useState<"shown" | "raw">(linked?.as ?? "shown");
	const attempt = app.place.run ?? null;
	return (
		// After a retry the last run is another one: its log is loaded anew.
		<OneLog key={`${stream} ${attempt ?? `last ${job.attempt}`} ${as}`} choice={{ id: job.id, stream, attempt, as }} setAs={setAs}>
			<select
				aria-label="Which run"
				value={attempt ?? ""}
				onChange={(event) => app.go({ run: event.currentTarget.value === "" ? null : Number(event.currentTarget.value) }, "replace")}
			>
				<option value="">last run</option>
				{Array.from({ length: Math.min(job.attempt, 50) }, (_, index) => job.attempt - index)
					.filter((n) => n !== job.attempt || n === attempt)
					.map((n) => (
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
		</OneLog>
	);
}

type OneProps = { choice: LogChoice; setAs: (as: "shown" | "raw") => void; children: preact.ComponentChildren };

function OneLog({ choice, setAs, children }: OneProps) {
	const log = useLog(choice);
	const [wrap, setWrap] = useKept<"yes" | "no">("log-wrap", "no");
	const [wanted, want] = useState(false);
	const isCounted = useCounting(log.reader, wanted);
	const folds = useFolds();
	const { reader, follow, setFollow } = log;
	const { size, ended, problem, output, blocks } = reader.state;
	const isAgents = choice.stream !== "stderr" && output !== "command";
	const setFollowing = (next: boolean) => {
		setFollow(next);
		if (next) void reader.toEnd();
	};
	useEffect(() => {
		const onKey = (event: KeyboardEvent) => {
			if (event.key !== "f" || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target) || app.question) return;
			event.preventDefault();
			setFollowing(!follow);
		};
		addEventListener("keydown", onKey);
		return () => removeEventListener("keydown", onKey);
	}, [follow]);
	return (
		<div class="log">
			<div class="tools">
				{children}
				{isAgents ? (
					<Check
						label="raw"
						title="The lines of JSON that the agent wrote, as they are"
						is={choice.as === "raw"}
						set={(raw) => setAs(raw ? "raw" : "shown")}
					/>
				) : null}
				{isAgents && choice.as === "shown" ? (
					<Check label="fold tools" is={folds.shape.tools === "folded"} set={(folded) => folds.setTools(folded ? "folded" : "open")} />
				) : null}
				<Check label="wrap" is={wrap === "yes"} set={(yes) => setWrap(yes ? "yes" : "no")} />
				<Check label="follow" is={follow} set={setFollowing} />
				<button type="button" class="small" onClick={() => void reader.toStart().then(() => log.goTo({ block: 0, row: 0 }, 0))}>
					Start
				</button>
				<button type="button" class="small" onClick={() => void reader.toEnd().then(() => setFollow(true))}>
					End
				</button>
				<Find log={log} />
				<Take log={log} choice={choice} />
				{isCounted || size <= COUNTED_BYTES || blocks.length === 0 ? null : (
					<button type="button" class="small" title="Reads all lines before these once" onClick={() => want(true)}>
						{wanted ? "Counting…" : "Line numbers"}
					</button>
				)}
				<span class="dim size">{problem ? "" : `${bytes(size)}${ended ? "" : ", live"}`}</span>
			</div>
			<LogLines
				{...{ reader, follow, setFollow }}
				shape={folds.shape}
				toggle={folds.toggle}
				isWrapped={wrap === "yes"}
				sight={log.sight}
				hit={log.hit}
				words={log.search.current?.words ?? ""}
				chosen={log.chosen}
				choose={log.choose}
				link={{ stream: choice.stream, as: choice.as }}
			/>
		</div>
	);
}

function Check({ label, title, is, set }: { label: string; title?: string; is: boolean; set: (is: boolean) => void }) {
	return (
		<label title={title}>
			<input type="checkbox" checked={is} onChange={(event) => set(event.currentTarget.checked)} /> {label}
		</label>
	);
}

const TYPED_MS = 250;

/** Enter goes to the next hit, Shift Enter to the one before. */
function Find({ log }: { log: Log }) {
	const [words, setWords] = useState("");
	const { search, hit, look, step, reader } = log;
	// A long log is searched when a person presses Enter, a shorter one while they type.
	useEffect(() => {
		if (words === (search.current?.words ?? "")) return;
		if (words !== "" && reader.state.size > COUNTED_BYTES) return look("");
		return after(words === "" ? 0 : TYPED_MS, () => {
			// Enter was quicker: its search goes on.
			if (words === (search.current?.words ?? "")) return;
			look(words);
			void search.current?.run(log.sight.current.at?.block ?? 0);
		});
	}, [words]);
	const go = (way: 1 | -1) => {
		if (words === "") return;
		if (search.current?.words !== words) look(words);
		void step(way);
	};
	return (
		<form
			class="find"
			onSubmit={(event) => {
				event.preventDefault();
				go(1);
			}}
		>
			<input
				type="search"
				placeholder="Search the log"
				aria-label="Search the log"
				value={words}
				onInput={(event) => setWords(event.currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key !== "Enter" || !event.shiftKey) return;
					event.preventDefault();
					go(-1);
				}}
			/>
			<button type="button" class="small" aria-label="Previous hit" title="Previous hit (Shift Enter)" onClick={() => go(-1)}>
				↑
			</button>
			<button type="submit" class="small" aria-label="Find" title="Next hit (Enter)">
				↓
			</button>
			<span class="dim found num" role="status">
				{foundWords(search.current, hit)}
			</span>
		</form>
	);
}

function foundWords(search: Log["search"]["current"], hit: Log["hit"]): string {
	if (!search) return "";
	if (search.problem !== null) return search.problem;
	if (search.total === 0) return search.isComplete ? "not found" : "searching…";
	const all = `${count(search.total)}${search.isComplete && search.total < MOST_HITS ? "" : "+"}`;
	const rank = hit && search.rank(hit);
	return rank ? `${count(rank)} of ${all}` : `${all} ${search.total === 1 ? "hit" : "hits"}`;
}

/** A log above this is downloaded instead. */
const COPIED_BYTES = 5_000_000;
const CHUNK_BYTES = 900_000;

/** Copies the chosen lines, or all; saves the whole log as it was written. */
function Take({ log: { reader, chosen }, choice }: { log: Log; choice: LogChoice }) {
	const copy = async () => {
		if (!chosen && reader.state.size > COPIED_BYTES)
			return app.say("failed", "This log is too long to copy: choose lines by their numbers, or download it.");
		const [from, to] = chosen ? [chosen.from, chosen.to] : [1, Number.MAX_SAFE_INTEGER];
		const text = await reader.textOf(from, to);
		const lines = text.split("\n").length;
		await copyText(text, lines === 1 ? (chosen ? `line ${from}` : "1 line") : `${count(lines)} lines`);
	};
	const download = async () => {
		const { id, stream, attempt } = choice;
		const parts: string[] = [];
		for (let offset = 0; ; ) {
			const part = await app.call("job.logs", { id, stream, offset, limit: CHUNK_BYTES, ...(attempt === null ? {} : { run: attempt }) });
			parts.push(part.text);
			if (part.eof || part.next_offset <= offset) break;
			offset = part.next_offset;
		}
		saveFile(`sluice-${reader.state.run ?? id}${stream === "both" ? "" : `-${stream}`}.log`, parts);
	};
	const failed = (error: unknown) => app.say("failed", error instanceof Error ? error.message : String(error));
	return (
		<>
			<button type="button" class="small" onClick={() => void copy().catch(failed)}>
				{chosen ? (chosen.from === chosen.to ? `Copy line ${chosen.from}` : `Copy lines ${chosen.from}–${chosen.to}`) : "Copy"}
			</button>
			<button type="button" class="small" onClick={() => void download().catch(failed)}>
				Download
			</button>
		</>
	);
}
