// Methods of the whole queue and of the daemon.

import type { PauseScope } from "../../contracts/scheduler.ts";
import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { demandToAct, doc, type Handlers } from "../call.ts";
import { type Context, frozenIn } from "../context.ts";
import { forecastDocument } from "../documents/forecast.ts";
import { nowDocument } from "../documents/now.ts";
import { type StatusDocument, statusDocument, unmerged } from "../documents/status.ts";
import { maybeTime, rfc3339 } from "../documents.ts";
import { mustBeKnown } from "../known.ts";
import { type Params, PROTOCOL } from "../protocol.ts";

const scopeOf = ({ lane, repo, batch, account }: Params<"scheduler.pause"> | Params<"scheduler.resume">): PauseScope =>
	given({ lane, repo, batch, account });

const DAY_MS = 86_400_000;
const named = (scope: PauseScope): string =>
	Object.entries(scope)
		.map(([kind, name]) => `${kind}:${name}`)
		.join(" ") || "all";

/** An agent cannot be paused, but `resume` closes its breaker. */
async function resumeAgent(agent: string, scope: PauseScope, { scheduler, agents }: Context, by: string) {
	if (Object.keys(scope).length > 0)
		throw new SluiceError("invalid", "scope: give one of lane, repo, batch, account, agent, or none for everything", { field: "agent" });
	const { holds } = await scheduler.status();
	if (!holds.some((hold) => hold.scope === `agent:${agent}`))
		mustBeKnown("agent", agent, [...agents.names(), ...scheduler.config().agents]);
	const breaker_closed = await scheduler.closeBreaker({ agent }, { by });
	return { scope: `agent:${agent}`, paused: false, breaker_closed };
}

/** Scopes that are paused now. */
const pausesOf = async ({ scheduler }: Context): Promise<string[]> =>
	(await scheduler.status()).holds.flatMap(({ kind, scope }) => (kind === "paused" ? [scope] : []));

/** What config.yml says of `listen` now: a change of some keys leaves the others. */
function ownListen({ config }: Context): Record<string, unknown> {
	const own: Record<string, unknown> = {};
	for (const { key, value, origin } of config.get("listen")) {
		const [, first = "", second] = key.split(".");
		if (!origin.startsWith("config.yml")) continue;
		own[first] = second === undefined ? value : { ...(own[first] as object | undefined), [second]: value };
	}
	return own;
}

async function webhookProblems({ webhooks }: Context): Promise<NonNullable<StatusDocument["webhook_problems"]>> {
	return (await webhooks.list()).flatMap(({ name, enabled, error, problem, waiting, failed_at }) => {
		const why = problem ?? error;
		return !enabled || why === null ? [] : [{ webhook: name, error: why, waiting, failed_at: maybeTime(failed_at) }];
	});
}

export const schedulerMethods: Handlers<"scheduler"> = {
	"scheduler.status": async (_params, { context }) => ({
		...statusDocument(await context.scheduler.status()),
		unmerged: await unmerged(context),
		frozen: frozenIn(context),
		config_problem: context.config.problem?.()?.message ?? null,
		http_port: context.endpoints().port,
		http_problem: context.endpoints().problem,
		disk_problem: context.disk?.() ?? null,
		webhook_problems: await webhookProblems(context),
		now: rfc3339(context.clock.now()),
	}),
	"scheduler.now": async (_params, { context }) => doc(await nowDocument(context)),
	"scheduler.run": async ({ dry_run }, at) => {
		const { context } = at;
		if (!dry_run) demandToAct(at, "scheduler.run");
		if (dry_run) return doc(await context.scheduler.plan({ cycle: "now", kinds: ["command", "agent"] }));
		await context.scheduler.tick();
		return doc(await context.supervisor.runCycle());
	},
	"scheduler.forecast": async ({ max_concurrent, lanes, batch }, { context }) =>
		forecastDocument(await context.scheduler.forecast({ frozen: frozenIn(context), ...given({ max_concurrent, lanes, batch }) })),
	"scheduler.pause": async ({ reason, freeze, until, ...place }, { context, by }) => {
		const { lanes, repos } = context.scheduler.config();
		// A pause of a misspelt name would hold nothing. Batches and accounts may be created after their pause.
		mustBeKnown("lane", place.lane, Object.keys(lanes));
		mustBeKnown("repo", place.repo, Object.keys(repos));
		const scope = scopeOf(place);
		await context.scheduler.pause(scope, { by, ...given({ reason, until: until as number | undefined }) });
		if (freeze) await context.supervisor.freeze(scope);
		const { kernel } = await context.scheduler.status();
		return doc({ scope: named(scope), paused: true, frozen: freeze === true, kernel });
	},
	"scheduler.resume": async ({ agent, ...place }, { context, by }) => {
		const scope = scopeOf(place);
		const before = await pausesOf(context);
		if (agent !== undefined) return doc({ ...(await resumeAgent(agent, scope, context, by)), was_paused: false, still_paused: before });
		await context.scheduler.resume(scope, { by });
		await context.supervisor.thaw(scope);
		const { repo } = place;
		const breaker_closed = repo !== undefined && (await context.scheduler.closeBreaker({ repo }, { by }));
		const was_paused = before.includes(named(scope));
		return doc({ scope: named(scope), paused: false, breaker_closed, was_paused, still_paused: await pausesOf(context) });
	},
	"scheduler.clear": async ({ item }, { context, by }) => doc(await context.scheduler.clear({ by, ...given({ item }) })),
	"scheduler.gc": async ({ days = 7 }, { context }) => {
		const before = context.clock.now() - days * DAY_MS;
		const report = await context.scheduler.gc({ days });
		if (report.deleted > 0) await context.supervisor.dropForgotten(before);
		return doc(report);
	},
	"scheduler.prune": async ({ dry_run }, { context }) => doc(await context.work.prune(dry_run ? "only look" : "remove")),
	"scheduler.down": async ({ stop_runs, grace_ms }, { context, by }) => {
		const running = context.supervisor.live().length;
		context.down({ runs: stop_runs ? "stop" : "leave", graceMs: grace_ms as number | undefined, by });
		return doc({ stopping: true, running });
	},
	"scheduler.serve": async ({ listen, certificate, key, names, tls, off }, { context, by }) => {
		const wanted = given({ address: listen, certificate, key, names, tls });
		if (off) await context.config.unset("listen.address", by);
		else if (Object.keys(wanted).length > 0) await context.config.set("listen", { ...ownListen(context), ...wanted }, by);
		return doc({ shared: context.endpoints().shared ?? null });
	},
	"scheduler.version": async (_params, { context, session, by }) =>
		doc({
			version: context.version,
			pid: context.pid,
			protocol: PROTOCOL,
			home: context.home,
			started_at: rfc3339(context.startedAt),
			port: context.endpoints().port,
			http_problem: context.endpoints().problem,
			ready: context.endpoints().ready,
			by,
			role: session.caller.role,
			person: session.caller.person?.name ?? null,
			shared: context.endpoints().shared ?? null,
		}),
};
