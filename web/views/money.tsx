// Accounts whose quota is used, and budgets with what has been spent.

import type { AccountDocument } from "../../src/api/protocol/account.ts";
import type { BudgetDocument } from "../../src/api/protocol/budget.ts";
import { app } from "../app.ts";
import { clearAccount, pause, resume, setBudget } from "../parts/actions.ts";
import { useNews } from "../parts/hooks.ts";
import { count, dollars, elapsed, inWords } from "../state/words.ts";

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

/** `; since 12 min, next try in 40 s` */
function NextTry({ since, next_at }: Pick<AccountDocument, "since" | "next_at">) {
	useNews("clock");
	const left = next_at === null ? 0 : Date.parse(next_at) - app.now();
	return (
		<>
			; {since === null ? "" : `since ${elapsed(app.now() - Date.parse(since))}, `}
			{left > 0 ? `next try in ${elapsed(left)}` : "next try with the next job"}
		</>
	);
}

export function Accounts({ accounts }: { accounts: AccountDocument[] }) {
	return (
		<section class="panel" aria-label="Accounts">
			<h2>
				Accounts <span class="dim">whose quota is used</span>
			</h2>
			{accounts.length === 0 ? <p class="nothing">none in the configuration</p> : null}
			<ul class="list">
				{accounts.map(({ name, state, since, until, next_at, reason, max }) => (
					<li key={name}>
						<span>
							<b>{name}</b> <span class={`chip account ${state}`}>{inWords(state)}</span>{" "}
							<span class="dim">{max === null ? "" : `at most ${max} runs`}</span>
							<br />
							{until && state !== "outage" ? <Countdown until={Date.parse(until)} since={since ? Date.parse(since) : null} /> : null}{" "}
							<span class="dim">
								{reason}
								{state === "outage" ? <NextTry since={since} next_at={next_at} /> : null}
							</span>
						</span>
						{app.mayAct ? (
							<span class="acts">
								{state === "rate_limited" || state === "closed" || state === "outage" ? (
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

export function Budgets({ budgets }: { budgets: BudgetDocument[] }) {
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
								{app.mayManage ? (
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
