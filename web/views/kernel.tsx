// The kernel's queue: entries by state, their target agents, the workers that hold them. Outside workers claim them; a pause does not hold them back.

import { useState } from "preact/hooks";
import type { Result } from "../../src/api/protocol.ts";
import { app } from "../app.ts";
import { cancelEntry } from "../parts/actions.ts";
import { Empty, Loading, Moment, Problem } from "../parts/bits.tsx";
import { useNews, useQuery } from "../parts/hooks.ts";
import { count } from "../state/words.ts";

const STATES = ["queued", "dispatched", "completed", "expired", "cancelled"] as const;
type State = (typeof STATES)[number];
type Entry = Result<"kernel.sched.list">["entries"][number];

/** Maximum entries that are shown; the command line lists them all. */
const SHOWN = 500;

async function ask(state: State | null) {
	const [list, { agents }] = await Promise.all([
		app.call("kernel.sched.list", { limit: SHOWN, ...(state === null ? {} : { state }) }),
		app.call("kernel.agent.list", {}),
	]);
	return { ...list, names: new Map(agents.map(({ pid, name }) => [pid, name])) };
}

export function KernelView() {
	useNews("status", "link");
	const [state, choose] = useState<State | null>("queued");
	const { value, problem, again } = useQuery(`kernel ${state}`, () => ask(state), String(app.revision));
	const counts: Partial<Record<State, number>> = app.status?.kernel ?? {};
	return (
		<>
			<h1 class="unseen">The kernel's queue</h1>
			<div class="tools">
				<label>
					State{" "}
					<select value={state ?? ""} onChange={(event) => choose((event.currentTarget.value || null) as State | null)}>
						<option value="">all</option>
						{STATES.map((one) => (
							<option key={one} value={one}>
								{one}
								{counts[one] === undefined ? "" : ` (${count(counts[one])})`}
							</option>
						))}
					</select>
				</label>
				<span class="dim">claimed by workers of your own, whatever is paused here</span>
			</div>
			{value ? <Entries {...value} /> : problem ? <Problem text={problem} again={again} /> : <Loading what="the kernel's queue" />}
		</>
	);
}

function Entries({ entries, total, names }: { entries: Entry[]; total: number; names: ReadonlyMap<number, string> }) {
	if (entries.length === 0)
		return (
			<Empty title="No such entries">
				<p>
					<code>sluice kernel enqueue PID</code> adds one for an agent, <code>kernel.sched.claim</code> hands it to a worker.
				</p>
			</Empty>
		);
	return (
		<>
			<table class="plain panel" aria-label="Entries">
				<thead>
					<tr>
						<th scope="col">Entry</th>
						<th scope="col">State</th>
						<th scope="col">Agent</th>
						<th scope="col">Trigger</th>
						<th scope="col">Priority</th>
						<th scope="col">Added</th>
						<th scope="col">Deadline</th>
						<th scope="col">Worker</th>
						{app.mayAct ? <th scope="col">Act</th> : null}
					</tr>
				</thead>
				<tbody>
					{entries.map((entry) => (
						<Row key={entry.sched_id} entry={entry} name={names.get(entry.pid) ?? ""} />
					))}
				</tbody>
			</table>
			{total > entries.length ? (
				<p class="nothing">
					{count(entries.length)} of {count(total)}: <code>sluice kernel list</code> shows the others
				</p>
			) : null}
		</>
	);
}

function Row({ entry, name }: { entry: Entry; name: string }) {
	const { sched_id, state, pid, trigger, priority, created_at, runnable_at, deadline, worker_id, exit_kind } = entry;
	const isEarly = state === "queued" && runnable_at * 1000 > app.now();
	return (
		<tr>
			<th scope="row" class="num">
				<button type="button" class="link" onClick={() => app.go({ job: sched_id })}>
					{sched_id}
				</button>
			</th>
			<td>
				{state}
				{exit_kind && exit_kind !== state ? <span class="dim"> · {exit_kind}</span> : null}
				{isEarly ? (
					<span class="dim">
						{" "}
						· from <Moment at={runnable_at * 1000} />
					</span>
				) : null}
			</td>
			<td>
				<span class="num">{pid}</span> <span class="dim">{name}</span>
			</td>
			<td>{trigger}</td>
			<td class="num">{count(priority)}</td>
			<td>
				<Moment at={created_at * 1000} />
			</td>
			<td>{deadline === null ? "" : <Moment at={deadline * 1000} />}</td>
			<td>{worker_id ?? ""}</td>
			{app.mayAct ? (
				<td>
					{state === "queued" ? (
						<button type="button" class="small" onClick={() => cancelEntry(sched_id)}>
							Cancel…
						</button>
					) : null}
				</td>
			) : null}
		</tr>
	);
}
