// Where jobs run: the repositories they work on, the hosts that run them.

import type { HostDocument } from "../../src/api/documents/status.ts";
import type { Result } from "../../src/api/protocol.ts";
import { app } from "../app.ts";
import { drainHost, pause, removeHost, resume, undrainHost } from "../parts/actions.ts";
import { Moment } from "../parts/bits.tsx";
import { count, facts, inWords } from "../state/words.ts";

export function Repos({ repos, paused }: { repos: Result<"repo.list">["repos"]; paused: (scope: string) => boolean }) {
	if (repos.length === 0) return null;
	return (
		<section class="panel" aria-label="Repos">
			<h2>Repos</h2>
			<ul class="list">
				{repos.map(({ name, base, busy, problem, max, trust_problem }) => (
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
							{trust_problem ? (
								<>
									<br />
									<span class="dim">{trust_problem}</span>
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

export function Hosts() {
	const hosts = app.status?.hosts ?? [];
	return (
		<section class="panel" aria-label="Hosts">
			<h2>
				Hosts <span class="dim">where jobs run</span>
			</h2>
			{hosts.length === 0 ? <p class="nothing">none: nothing can start</p> : null}
			<ul class="list">
				{hosts.map((host) => (
					<OneHost key={host.name} host={host} />
				))}
			</ul>
		</section>
	);
}

function OneHost({
	host: { name, state, labels, repos, running, max, heartbeat_at, lease_until, drain, gone, leads },
}: {
	host: HostDocument;
}) {
	return (
		<li>
			<span>
				<b>{name}</b> {state === "live" ? null : <span class={`chip host ${state}`}>{inWords(gone ?? state)}</span>}{" "}
				{leads && lease_until !== null && gone === null ? <span class="chip">leads</span> : null}
				{labels.map((label) => (
					<span key={label} class="chip">
						{label}
					</span>
				))}
				<br />
				<span class="dim num">
					{facts(`${count(running)}${max === null ? "" : ` of ${count(max)}`} running`, (repos ?? []).join(", "), "last heard of ")}
					<Moment at={Date.parse(heartbeat_at)} />
					{drain ? ` · drained by ${drain.by}${drain.reason ? `: ${drain.reason}` : ""}` : ""}
				</span>
			</span>
			{app.mayAct ? (
				<span class="acts">
					{drain ? (
						<button type="button" class="small" onClick={() => undrainHost(name)}>
							Undrain
						</button>
					) : state === "gone" ? (
						<button type="button" class="small" onClick={() => removeHost(name)}>
							Remove…
						</button>
					) : (
						<button type="button" class="small" onClick={() => drainHost(name)}>
							Drain…
						</button>
					)}
				</span>
			) : null}
		</li>
	);
}
