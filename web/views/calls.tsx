// The record of calls: who did what, when and from where. For admins.

import { useEffect, useState } from "preact/hooks";
import type { Result } from "../../src/api/protocol.ts";
import { app } from "../app.ts";
import { Empty } from "../parts/bits.tsx";
import { useNews } from "../parts/hooks.ts";
import { moment } from "../state/words.ts";

type Entries = Result<"audit.list">["entries"];

const ROWS = 200;

export function Calls() {
	useNews("status");
	const [entries, set] = useState<Entries | null>(null);
	const [problem, say] = useState<string | null>(null);
	useEffect(() => {
		const stop = new AbortController();
		app.call("audit.list", { limit: ROWS }, stop.signal).then(
			(answer) => {
				set(answer.entries);
				say(answer.missing_hosts.length === 0 ? null : `not listed, as they do not answer: ${answer.missing_hosts.join(", ")}`);
			},
			(error: unknown) => {
				if (!stop.signal.aborted) say(error instanceof Error ? error.message : String(error));
			},
		);
		return () => stop.abort();
	}, [app.revision]);
	return (
		<section class="panel" aria-label="Calls">
			<h2>
				Calls <span class="dim">who changed what, the newest first</span>
			</h2>
			{problem === null ? null : <p class="nothing">{problem}</p>}
			{entries === null ? null : entries.length === 0 ? <Empty title="Nothing was changed yet" /> : <Table entries={entries} />}
		</section>
	);
}

function Table({ entries }: { entries: Entries }) {
	return (
		<table class="plain">
			<thead>
				<tr>
					{["When", "Who", "From", "Host", "Call", "On", "Result"].map((title) => (
						<th key={title} scope="col">
							{title}
						</th>
					))}
				</tr>
			</thead>
			<tbody>
				{entries.map(({ at, by, role, from, host, method, what, outcome }, index) => (
					<tr key={`${at} ${index}`}>
						<td class="num">{moment(Date.parse(at), app.now())}</td>
						<td>
							{by} <span class="dim">{role}</span>
						</td>
						<td>{from}</td>
						<td>{host}</td>
						<td>{method}</td>
						<td>
							{Object.entries(what)
								.map(([name, value]) => `${name} ${JSON.stringify(value)}`)
								.join(", ")}
						</td>
						<td>{outcome === "ok" ? "ok" : <b>{outcome}</b>}</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
