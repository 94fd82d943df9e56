// What an agent that runs is doing: its messages, its tools with times and results, how much it has used; live.

import { useEffect, useRef, useState } from "preact/hooks";
import type { JobDocument } from "../../../src/api/documents.ts";
import { isFormat } from "../../../src/core/agents/index.ts";
import { app } from "../../app.ts";
import { after } from "../../outside.ts";
import { useNews } from "../../parts/hooks.ts";
import { Activity, type ActivityItem } from "../../state/log/activity.ts";
import { latestProgress, linesWords, short } from "../../state/now.ts";
import { clock, count, dollars, elapsed, span } from "../../state/words.ts";

const BYTES = 500_000;
const WAIT_MS = 10_000;

/** Reads the end of the run's log, then what is added. */
function useActivity(id: number, attempt: number): { items: readonly ActivityItem[]; problem: string | null } {
	const [state, set] = useState<{ items: readonly ActivityItem[]; problem: string | null }>({ items: [], problem: null });
	useEffect(() => {
		const cut = new AbortController();
		const pause = (ms: number) => new Promise<void>((resolve) => void after(ms, resolve));
		void (async () => {
			let activity: Activity | null = null;
			let [offset, isWithin] = [-BYTES, true];
			let rest: Rest = { stdout: "", stderr: "" };
			while (!cut.signal.aborted) {
				try {
					const part = await app.call("job.logs", { id, run: attempt, offset, limit: BYTES, wait_ms: WAIT_MS }, cut.signal);
					if (part.run !== null && isFormat(part.output) && part.output !== "command") activity ??= new Activity(part.output);
					if (part.run !== null) {
						isWithin &&= offset < 0 ? part.offset > 0 : true;
						offset = part.next_offset;
						rest = take(activity, rest, part, isWithin);
						isWithin = false;
						set({ items: activity?.items ?? [], problem: null });
					}
					if (part.ended && part.eof) return;
					await pause(part.text === "" ? 500 : 150);
				} catch (error) {
					if (cut.signal.aborted) return;
					set((before) => ({ ...before, problem: error instanceof Error ? error.message : String(error) }));
					await pause(2000);
				}
			}
		})();
		return () => cut.abort();
	}, [id, attempt]);
	return state;
}

type Rest = Record<"stdout" | "stderr", string>;
/** A line above this is no event that could be shown. */
const LONGEST_LINE = 2_000_000;

/** Passes whole lines on, each with its stream, and returns the lines that are not complete. */
function take(
	activity: Activity | null,
	before: Rest,
	{ text, parts }: { text: string; parts: { stream: "stdout" | "stderr"; length: number }[] },
	isWithin: boolean,
): Rest {
	const rest = { ...before };
	let at = 0;
	let skip = isWithin;
	for (const { stream, length } of parts) {
		const lines = (rest[stream] + text.slice(at, at + length)).split("\n");
		at += length;
		rest[stream] = (lines.pop() ?? "").slice(0, LONGEST_LINE);
		for (const line of lines) {
			if (!skip) activity?.line(line, stream);
			skip = false;
		}
	}
	return rest;
}

export function ActivityPanel({ job }: { job: JobDocument }) {
	const { items, problem } = useActivity(job.id, job.attempt);
	const list = useRef<HTMLOListElement>(null);
	const isAtEnd = useRef(true);
	useEffect(() => {
		if (isAtEnd.current && list.current) list.current.scrollTop = list.current.scrollHeight;
	}, [items]);
	return (
		<section class="panel activity" aria-label="Activity">
			<h2>
				What it does{" "}
				<button type="button" class="small" onClick={() => app.go({ tab: "log", run: null })}>
					Whole log
				</button>
			</h2>
			<Progress job={job} />
			{items.length === 0 ? <p class="dim">{problem ?? "It has said nothing yet."}</p> : null}
			<ol
				ref={list}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with keys
				tabIndex={0}
				onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
					isAtEnd.current = scrollHeight - clientHeight - scrollTop < 30;
				}}
			>
				{items.map((item) => (
					<Item key={item.id} item={item} />
				))}
			</ol>
		</section>
	);
}

function Item({ item }: { item: ActivityItem }) {
	const at = item.at === null ? null : <time class="dim num">{clock(item.at)}</time>;
	if (item.is === "said")
		return (
			<li class="said">
				{at}
				<p>{item.text}</p>
			</li>
		);
	if (item.is === "note")
		return (
			<li class={item.kind}>
				{at}
				<p>{item.text}</p>
			</li>
		);
	const took = item.at !== null && item.endedAt !== null ? span(item.endedAt - item.at) : null;
	const words = { runs: "runs", ok: took ?? "", failed: `failed${took ? ` · ${took}` : ""}`, denied: "not allowed" }[item.how];
	const line = (
		<>
			<span class="tool">{item.name}</span> <code>{item.text.split("\n", 1)[0]}</code>{" "}
			<span class={item.how === "failed" || item.how === "denied" ? "bad" : "dim num"}>{words}</span>
		</>
	);
	const more = [item.text.includes("\n") ? item.text : "", item.result].filter(Boolean).join("\n\n");
	return (
		<li class={`call ${item.how}`}>
			{at}
			{more === "" ? (
				<p>
					<span class="tool">▸</span> {line}
				</p>
			) : (
				<details>
					<summary>{line}</summary>
					<pre class="result">{more}</pre>
				</details>
			)}
		</li>
	);
}

/** Turns, tools, tokens and cost so far. */
function Progress({ job: { id, run } }: { job: JobDocument }) {
	useNews("progress", "clock");
	const progress = run ? latestProgress(app.jobs.progress.get(id), run) : null;
	if (!run || !progress) return null;
	const facts: [string, string][] = [
		["turns", progress.turns === null ? "" : count(progress.turns)],
		["tool calls", progress.tool_calls === null ? "" : count(progress.tool_calls)],
		["tokens", progress.tokens === null ? "" : short(progress.tokens)],
		["cost", progress.cost_micro === null ? "" : dollars(progress.cost_micro)],
		["changed", linesWords(progress)],
		["time", elapsed(app.now() - Date.parse(run.started_at))],
	];
	return (
		<dl class="figures">
			{facts
				.filter(([, value]) => value !== "")
				.map(([name, value]) => (
					<div key={name}>
						<dt>{name}</dt>
						<dd class="num">{value}</dd>
					</div>
				))}
		</dl>
	);
}
