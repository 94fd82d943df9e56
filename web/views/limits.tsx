// Limits: caps as gauges that can be dragged, accounts with the time to their reset, budgets, holds and hosts.

import { useEffect, useState } from "preact/hooks";
import type { LaneDocument } from "../../src/api/protocol/nouns.ts";
import { app } from "../app.ts";
import { clearAccount, clearHold, clearQueue, pause, resume, type Scope, setBudget, setLane, setMax } from "../parts/actions.ts";
import { Loading, Moment, Problem } from "../parts/bits.tsx";
import { useAsked, useNews } from "../parts/hooks.ts";
import { count, dollars, elapsed, inWords } from "../state/words.ts";

async function look(signal: AbortSignal) {
	const [lanes, accounts, budgets, repos] = await Promise.all([
		app.call("lane.list", {}, signal),
		app.call("account.list", {}, signal),
		app.call("budget.list", {}, signal),
		app.call("repo.list", {}, signal),
	]);
	return { ...lanes, ...accounts, ...budgets, ...repos };
}
type Seen = Awaited<ReturnType<typeof look>>;

export function Limits() {
	useNews("status", "link");
	const { value, problem, again } = useAsked(look, "limits", String(app.news));
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
						used={status.running}
						queued={status.queued_total}
						max={status.max_concurrent > 0 ? status.max_concurrent : null}
						set={(max) => setMax(max ?? -1)}
						scope={{}}
						paused={status.paused}
					/>
				) : null}
				{lanes.map(({ name, running, queued, max }) => (
					<Gauge
						key={name}
						name={`lane ${name}`}
						used={running}
						queued={queued}
						max={max}
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
	set: (max: number | null) => void;
	scope: Scope;
	paused: boolean;
};

/** The bar shows what is used; its handle is the cap. What is typed or dragged counts when one lets go. */
function Gauge({ name, used, queued, max, set, scope, paused }: GaugeProps) {
	const [draft, setDraft] = useState<number | null>(max);
	useEffect(() => setDraft(max), [max]);
	const top = Math.max(8, (draft ?? 0) * 1.25, used * 1.25, (max ?? 0) * 1.25);
	const end = Math.ceil(top / 4) * 4;
	const commit = (value: number | null) => {
		if (value !== max) set(value);
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
					min={0}
					max={end}
					value={draft ?? end}
					disabled={!app.mayAct}
					aria-label={`Cap of ${name}`}
					aria-valuetext={draft === null ? "no cap" : `${draft} runs`}
					onInput={(event) => setDraft(Number(event.currentTarget.value))}
					onChange={(event) => commit(Number(event.currentTarget.value))}
				/>
			</div>
			<div class="figures num">
				<b>{count(used)}</b>
				<span class="dim"> of </span>
				<input
					type="number"
					min={0}
					max={1000000}
					value={draft ?? ""}
					placeholder="∞"
					disabled={!app.mayAct}
					aria-label={`Cap of ${name}, as a number; empty is none`}
					onInput={(event) => setDraft(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
					onChange={(event) => commit(event.currentTarget.value === "" ? null : Number(event.currentTarget.value))}
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
					<li key={`${hold.kind} ${hold.scope}`}>
						<span>
							<b>{inWords(hold.kind)}</b> {hold.scope.replace(":", " ")}
							<br />
							<span class="dim">
								{hold.reason || "no reason given"} · by {hold.by} · since <Moment at={Date.parse(hold.since)} />
								{hold.until ? (
									<>
										{" "}
										· ends <Moment at={Date.parse(hold.until)} />
									</>
								) : null}
							</span>
						</span>
						{app.mayAct && hold.kind !== "breaker_open" ? (
							<button type="button" class="small" onClick={() => clearHold(hold)}>
								Clear
							</button>
						) : null}
					</li>
				))}
			</ul>
		</section>
	);
}

function Countdown({ until, since }: { until: number; since: number | null }) {
	useNews("clock");
	const left = until - app.now();
	const whole = since === null ? left : until - since;
	if (left <= 0) return <span class="dim">resets now</span>;
	return (
		<span class="countdown num">
			<progress max={Math.max(1, whole)} value={Math.max(0, whole - left)} aria-label="time until the reset" /> {elapsed(left)}
		</span>
	);
}

function Accounts({ accounts }: { accounts: Seen["accounts"] }) {
	return (
		<section class="panel" aria-label="Accounts">
			<h2>
				Accounts <span class="dim">whose quota is used</span>
			</h2>
			{accounts.length === 0 ? <p class="nothing">none in the configuration</p> : null}
			<ul class="list">
				{accounts.map(({ name, state, since, until, reason, max }) => (
					<li key={name}>
						<span>
							<b>{name}</b> <span class={`chip account ${state}`}>{inWords(state)}</span>{" "}
							<span class="dim">{max === null ? "" : `at most ${max} runs`}</span>
							<br />
							{until ? <Countdown until={Date.parse(until)} since={since ? Date.parse(since) : null} /> : null}{" "}
							<span class="dim">{reason}</span>
						</span>
						{app.mayAct ? (
							<span class="acts">
								{state === "rate_limited" || state === "closed" ? (
									<button type="button" class="small" onClick={() => clearAccount(name)}>
										Open…
									</button>
								) : null}
								<button
									type="button"
									class="small"
									onClick={() => (state === "paused" ? resume({ account: name }) : pause({ account: name }))}
								>
									{state === "paused" ? "Resume" : "Pause"}
								</button>
							</span>
						) : null}
					</li>
				))}
			</ul>
		</section>
	);
}

const amount = (dim: string, value: number): string =>
	dim === "cost_micro" ? dollars(value) : dim === "wall_s" ? elapsed(value * 1000) : count(value);

function Budgets({ budgets }: { budgets: Seen["budgets"] }) {
	return (
		<section class="panel wide" aria-label="Budgets">
			<h2>
				Budgets <span class="dim">what has been used, of what is granted</span>
			</h2>
			{budgets.length === 0 ? <p class="nothing">nothing is counted yet: jobs with an owner, a batch or a repo are</p> : null}
			<table class="plain">
				<tbody>
					{budgets.map(({ subject, dim, used, limit, warn_at, window, over_limit }) => (
						<tr key={`${subject} ${dim}`}>
							<th scope="row">{subject.replace(":", " ")}</th>
							<td class="dim">
								{inWords(dim.replace("_micro", ""))}
								{window ? ` / ${window}` : ""}
							</td>
							<td class="meter">
								{limit === null ? null : (
									<span class={`use ${over_limit ? "over" : used >= limit * warn_at ? "warn" : ""}`}>
										<span style={{ width: `${Math.min(100, limit === 0 ? 100 : (used / limit) * 100)}%` }} />
									</span>
								)}
							</td>
							<td class="num right">
								{amount(dim, used)}
								{limit === null ? "" : <span class="dim"> of {amount(dim, limit)}</span>}
							</td>
							<td class="right">
								{app.mayAct ? (
									<button
										type="button"
										class="small"
										aria-label={`Limit of ${dim} for ${subject}`}
										onClick={() => setBudget(subject, dim, limit, window)}
									>
										Limit…
									</button>
								) : null}
							</td>
						</tr>
					))}
				</tbody>
			</table>
		</section>
	);
}

function Repos({ repos, paused }: { repos: Seen["repos"]; paused: (scope: string) => boolean }) {
	if (repos.length === 0) return null;
	return (
		<section class="panel" aria-label="Repos">
			<h2>Repos</h2>
			<ul class="list">
				{repos.map(({ name, base, busy, problem, max }) => (
					<li key={name}>
						<span>
							<b>{name}</b> {paused(`repo:${name}`) ? <span class="chip paused">paused</span> : null}{" "}
							<span class="dim">
								{base ?? ""} {max === null ? "" : `at most ${max} runs`}
							</span>
							{problem || busy ? (
								<>
									<br />
									<span class="dim">{problem ?? `git is in the middle of a ${busy}`}</span>
								</>
							) : null}
						</span>
						{app.mayAct ? (
							<button type="button" class="small" onClick={() => (paused(`repo:${name}`) ? resume({ repo: name }) : pause({ repo: name }))}>
								{paused(`repo:${name}`) ? "Resume" : "Pause"}
							</button>
						) : null}
					</li>
				))}
			</ul>
		</section>
	);
}

function Hosts() {
	return (
		<section class="panel" aria-label="Hosts">
			<h2>Hosts</h2>
			<ul class="list">
				{(app.status?.hosts ?? []).map(({ name, labels, heartbeat_at, state, running, max }) => (
					<li key={name}>
						<span>
							<b>{name}</b> <span class="dim">{labels.join(", ")}</span>{" "}
							{state === "live" ? null : <span class="chip">{inWords(state)}</span>}
						</span>
						<span class="dim">
							{running}
							{max === null ? "" : ` of ${max}`} running, <Moment at={Date.parse(heartbeat_at)} />
						</span>
					</li>
				))}
			</ul>
		</section>
	);
}
