// Limits: caps that are set by steps, accounts with the time to their reset, budgets, holds and hosts.

import { useState } from "preact/hooks";
import type { LaneDocument } from "../../src/api/protocol/lane.ts";
import { app } from "../app.ts";
import { askCap, askPause, clearHold, clearQueue, pause, resume, type Scope, setLane, setMax } from "../parts/actions.ts";
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
						set={setMax}
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
						set={(next, before) => setLane(name, next, before)}
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
	set: (max: number | null, before: number | null) => Promise<"done" | "failed">;
	scope: Scope;
	paused: boolean;
};

type StepperProps = { name: string; shown: string; least: 0 | 1; step: (by: 1 | -1) => void; type: (text: string | null) => void };

/** A number with a button on each side. Nothing of it is in force before it is set. */
function Stepper({ name, shown, least, step, type }: StepperProps) {
	return (
		<>
			<button
				type="button"
				class="small step"
				disabled={!app.mayManage || shown === String(least)}
				aria-label={`${name}: one run less`}
				onClick={() => step(-1)}
			>
				−
			</button>
			<input
				type="text"
				inputMode="numeric"
				value={shown}
				placeholder="∞"
				disabled={!app.mayManage}
				aria-label={`Cap of ${name}, as a number; empty is none`}
				onInput={(event) => type(event.currentTarget.value.trim())}
				onKeyDown={(event) => {
					if (event.key === "ArrowUp") step(1);
					else if (event.key === "ArrowDown") step(-1);
					else if (event.key === "Escape") type(null);
				}}
			/>
			<button type="button" class="small step" disabled={!app.mayManage} aria-label={`${name}: one run more`} onClick={() => step(1)}>
				+
			</button>
		</>
	);
}

/** The bar shows the usage. The cap is changed by steps or typed, and in force when it is set: a click on the bar or a stray key changes nothing. */
function Gauge({ name, used, queued, max, least, set, scope, paused }: GaugeProps) {
	const [draft, setDraft] = useState<string | null>(null);
	const shown = draft ?? (max === null ? "" : String(max));
	const end = Math.max(4, used, max ?? 0);
	const step = (by: 1 | -1) => setDraft(String(Math.max(least, (shown === "" ? used : Number(shown)) + by)));
	const value = shown === "" ? null : Number(shown);
	const isChanged = draft !== null && value !== max;
	const commit = () => {
		if (!isChanged) return setDraft(null);
		if (value !== null && !(Number.isSafeInteger(value) && value >= least)) {
			app.say("failed", `A cap is a whole number from ${least} on; empty is none.`);
			return setDraft(null);
		}
		setDraft(null);
		askCap(name, value, () => void set(value, max));
	};
	return (
		<form
			class={`gauge ${paused ? "held" : ""}`}
			onSubmit={(event) => {
				event.preventDefault();
				commit();
			}}
		>
			<div class="name">
				{name} {paused ? <span class="chip paused">paused</span> : null}
			</div>
			<div class="bar" role="img" aria-label={`${name}: ${used} of ${max ?? "any number of"} runs`}>
				<div class={`fill ${max !== null && used >= max ? "full" : ""}`} style={{ width: `${Math.min(100, (used / end) * 100)}%` }} />
			</div>
			<div class="figures num">
				<b>{count(used)}</b>
				<span class="dim"> of </span>
				<Stepper name={name} shown={shown} least={least} step={step} type={setDraft} />
				<span class="dim queued">{count(queued)} queued</span>
			</div>
			{isChanged ? (
				<span class="acts">
					<button type="submit" class="small main">
						Set {value === null ? "no cap" : count(value)}
					</button>
					<button type="button" class="small" aria-label={`Keep the cap of ${name}`} onClick={() => setDraft(null)}>
						×
					</button>
				</span>
			) : app.mayAct ? (
				<button
					type="button"
					class="small"
					onClick={() => (paused ? resume(scope) : Object.keys(scope).length === 0 ? askPause() : pause(scope))}
				>
					{paused ? "Resume" : "Pause"}
				</button>
			) : (
				<span />
			)}
		</form>
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
