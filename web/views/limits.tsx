// Limits: caps as gauges that can be dragged, accounts with the time to their reset, budgets, holds and hosts.

import { useEffect, useRef, useState } from "preact/hooks";
import type { LaneDocument } from "../../src/api/protocol/lane.ts";
import { app } from "../app.ts";
import { clearHold, clearQueue, pause, resume, type Scope, setLane, setMax } from "../parts/actions.ts";
import { Loading, Moment, Problem } from "../parts/bits.tsx";
import { useNews, useQuery } from "../parts/hooks.ts";
import { count, inWords } from "../state/words.ts";
import { Accounts, Budgets } from "./money.tsx";
import { Hosts, Repos } from "./places.tsx";

async function look() {
	const [lanes, accounts, budgets, repos] = await Promise.all([
		app.call("lane.list", {}),
		app.call("account.list", {}),
		app.call("budget.list", {}),
		app.call("repo.list", {}),
	]);
	return { ...lanes, ...accounts, ...budgets, ...repos };
}

export function Limits() {
	useNews("status", "link");
	const { value, problem, again } = useQuery("limits", look, String(app.revision));
	if (!value) return problem ? <Problem text={problem} again={again} /> : <Loading what="the limits" />;
	const paused = (scope: string) => app.status?.holds.some((hold) => hold.kind === "paused" && hold.scope === scope) ?? false;
	return (
		<>
			<h1 class="unseen">Limits</h1>
			<div class="panels">
				<Caps lanes={value.lanes} paused={paused} />
				<Holds />
				<Accounts accounts={value.accounts} />
				<Budgets budgets={value.budgets} />
				<Repos repos={value.repos} paused={paused} />
				<Hosts />
			</div>
		</>
	);
}

function Caps({ lanes, paused }: { lanes: LaneDocument[]; paused: (scope: string) => boolean }) {
	const { status } = app;
	return (
		<section class="panel wide" aria-label="Caps">
			<h2>
				Caps <span class="dim">how many runs at the same time</span>
			</h2>
			<div class="gauges">
				{status ? (
					<Gauge
						name="everything"
						used={status.running - (status.lending ?? 0)}
						queued={status.queued_total}
						max={status.max_concurrent > 0 ? status.max_concurrent : null}
						least={1}
						set={(max) => setMax(max ?? -1)}
						scope={{}}
						paused={status.paused}
					/>
				) : null}
				{lanes.map(({ name, running, lending = 0, queued, max }) => (
					<Gauge
						key={name}
						name={`lane ${name}`}
						used={running - lending}
						queued={queued}
						max={max}
						least={0}
						set={(next) => setLane(name, next)}
						scope={{ lane: name }}
						paused={paused(`lane:${name}`)}
					/>
				))}
			</div>
			{app.mayAct && (status?.queued_total ?? 0) > 0 ? (
				<p class="after">
					<button type="button" class="small" onClick={clearQueue}>
						Clear the queue…
					</button>
				</p>
			) : null}
		</section>
	);
}

type GaugeProps = {
	name: string;
	used: number;
	queued: number;
	max: number | null;
	/** A lane can have cap 0; for the whole queue, 0 would mean no cap. */
	least: 0 | 1;
	set: (max: number | null) => Promise<"done" | "failed">;
	scope: Scope;
	paused: boolean;
};

/** The bar shows the usage; its handle is the cap. A typed or dragged value is applied on release. */
function Gauge({ name, used, queued, max, least, set, scope, paused }: GaugeProps) {
	const [draft, setDraft] = useState<number | null>(max);
	/** While a person is changing the value, incoming updates do not overwrite it. */
	const busy = useRef(false);
	const draw = (value: number | null) => {
		busy.current = true;
		setDraft(value);
	};
	useEffect(() => {
		if (!busy.current) setDraft(max);
	}, [max]);
	const top = Math.max(8, (draft ?? 0) * 1.25, used * 1.25, (max ?? 0) * 1.25);
	const end = Math.ceil(top / 4) * 4;
	const commit = async (value: number | null, field?: HTMLInputElement) => {
		busy.current = false;
		if (value === max) return;
		const isGood = value === null || (Number.isSafeInteger(value) && value >= least);
		if (!isGood) app.say("failed", `A cap is a whole number from ${least} on; empty is none.`);
		if (isGood && (await set(value)) !== "failed") return;
		setDraft(max);
		// If a typed value is refused before it was rendered, the draft has not changed for Preact, and the typed text would stay.
		if (field) field.value = max === null ? "" : String(max);
	};
	return (
		<div class={`gauge ${paused ? "held" : ""}`}>
			<div class="name">
				{name} {paused ? <span class="chip paused">paused</span> : null}
			</div>
			<div class="bar">
				<div class="fill" style={{ width: `${Math.min(100, (used / end) * 100)}%` }} />
				<input
					type="range"
					min={least}
					max={end}
					value={draft ?? end}
					disabled={!app.mayAct}
					aria-label={`Cap of ${name}`}
					aria-valuetext={draft === null ? "no cap" : `${draft} runs`}
					onInput={(event) => draw(Number(event.currentTarget.value))}
					onChange={(event) => void commit(Number(event.currentTarget.value))}
				/>
			</div>
			<div class="figures num">
				<b>{count(used)}</b>
				<span class="dim"> of </span>
				<input
					type="number"
					min={least}
					max={1000000}
					value={draft ?? ""}
					placeholder="∞"
					disabled={!app.mayAct}
					aria-label={`Cap of ${name}, as a number; empty is none`}
					onInput={(event) => draw(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
					onChange={({ currentTarget: field }) => void commit(field.value === "" ? null : Number(field.value), field)}
				/>
				<span class="dim queued">{count(queued)} queued</span>
			</div>
			{app.mayAct ? (
				<button type="button" class="small" onClick={() => (paused ? resume(scope) : pause(scope))}>
					{paused ? "Resume" : "Pause"}
				</button>
			) : (
				<span />
			)}
		</div>
	);
}

function Holds() {
	const holds = app.status?.holds ?? [];
	return (
		<section class="panel" aria-label="Holds">
			<h2>
				Holds <span class="dim">what keeps jobs from starting</span>
			</h2>
			{holds.length === 0 ? <p class="nothing">none</p> : null}
			<ul class="list">
				{holds.map((hold) => (
					<li key={`${hold.kind} ${hold.scope} ${hold.agent ?? ""}`}>
						<span>
							<b>{inWords(hold.kind)}</b> {hold.scope.replace(":", " ")}
							<br />
							<span class="dim">
								{hold.reason || "no reason given"} · by {hold.by} · since <Moment at={Date.parse(hold.since)} />
								{hold.until ? (
									<>
										{" "}
										· {hold.kind === "outage" ? "next try" : "ends"} <Moment at={Date.parse(hold.until)} />
									</>
								) : null}
							</span>
						</span>
						{app.mayAct ? (
							<button
								type="button"
								class="small"
								aria-label={`Clear: ${inWords(hold.kind)}, ${hold.scope}`}
								onClick={() => clearHold(hold)}
							>
								Clear
							</button>
						) : null}
					</li>
				))}
			</ul>
		</section>
	);
}
