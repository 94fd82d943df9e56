// Scenes that random steps hardly ever come to: an agent whose launches keep failing while one probe after the other goes out, cycles with their beat, a budget
// that stops the runs in flight, runs that wait while their daemon starts again, jobs that ask and are granted something, over and over, a provider that is
// down.

import type { Config } from "../../src/core/config.ts";
import type { Op, Plan, Whom } from "../operation.ts";
import { hash, type Random } from "../random.ts";
import { drawCutScenes } from "./draw-cut-scenes.ts";
import { GRANTS } from "./draw-op.ts";
import { AGENTS } from "./themes.ts";

const COOLDOWN_MS = 10_000;
const EVERY_MS = 20_000;

/** Apart from the other chances: what a seed was before, it is also with its scene. */
const SCENES = ["outage", "beat", "questions", "outage", "beat", "breach", "restart"] as const;
const sceneOf = (seed: number) => SCENES[hash("scene", seed) % SCENES.length] as (typeof SCENES)[number];

/** What a plan ends with. */
export function addScene(plan: Plan, random: Random, config: Config): void {
	const scene = sceneOf(plan.seed);
	const first = (plan.ops.at(-1)?.id ?? 0) + 1;
	const ops = DRAWN[scene](random, config);
	const after = hash("provider", plan.seed) % 4 === 0 ? drawProviderDown(random, config) : [];
	const cut = drawCutScenes(plan, calm(config));
	plan.ops.push(...[...ops, ...after, ...cut].map((op, index) => ({ ...op, id: first + index })));
}

const calm = (config: Config): Config => ({
	...structuredClone(config),
	max_concurrent: 8,
	safety_cap: 0,
	cycle_interval_ms: 0,
	spawn_delay_ms: 0,
});
const claim = (max: number): Op => ({ id: 0, kind: "claim", host: "h0", max });
const advance = (ms: number): Op => ({ id: 0, kind: "advance", ms });

/** Several jobs of one agent: their launches fail for a reason that they share, now and then for one of a job's own. */
function drawOutage(random: Random, config: Config): Op[] {
	const agent = random.pick(AGENTS);
	const add = (): Op => ({
		id: 0,
		kind: "add",
		force: true,
		job: { input: { agent, prompt: "do it", priority: random.pick([900, 950]) } },
	});
	const fails = (): Op => ({
		id: 0,
		kind: "end",
		whom: { of: "running", pick: random.int(2 ** 31) },
		end: { kind: "launch_failed", ...(random.chance(0.15) ? { fault: "job" as const } : {}) },
	});
	const broken = { failures: 2, cooldown_ms: COOLDOWN_MS };
	const settings = {
		...calm(config),
		environment_breaker: broken,
		dispatch_breaker: random.pick([3, 3, "off" as const]),
		dispatch_backoff_ms: 1000,
	};
	const rounds = Array.from({ length: 8 }, (): Op[] => [advance(COOLDOWN_MS), claim(random.pick([1, 3])), fails()]);
	return [
		{ id: 0, kind: "configure", config: settings },
		...[add(), add(), add(), claim(10)],
		...Array.from({ length: 8 }, fails),
		...rounds.flat(),
	];
}

/** Jobs come before and after a heartbeat, and a cycle is opened by hand. */
function drawBeat(random: Random, config: Config): Op[] {
	const add = (): Op => ({ id: 0, kind: "add", force: true, job: { input: { command: ["true"], priority: random.pick([900, 950]) } } });
	const byHand = (): Op => ({ id: 0, kind: "claim", host: "h0", max: 10, by_hand: true });
	const settings = {
		...calm(config),
		cycle_interval_ms: EVERY_MS,
		batch_size: random.pick([0, 1, 2, 3]),
		spawn_delay_ms: random.pick([0, 500, 3000]),
	};
	const ends = (): Op => ({ id: 0, kind: "end", whom: { of: "running", pick: random.int(2 ** 31) }, end: { kind: "completed" } });
	const rounds = Array.from({ length: 10 }, (): Op[] => [
		random.chance(0.5) ? add() : ends(),
		advance(random.pick([400, 3000, EVERY_MS / 2, EVERY_MS, 3 * EVERY_MS + 700])),
		random.chance(0.2) ? byHand() : claim(10),
	]);
	return [{ id: 0, kind: "configure", config: settings }, add(), add(), claim(10), byHand(), add(), claim(10), ...rounds.flat()];
}

/** Some runs of one owner: the end of the first uses up the budget, and the others are asked to stop. */
function drawBreach(random: Random, config: Config): Op[] {
	const owner = "zoe";
	const add = (): Op => ({
		id: 0,
		kind: "add",
		force: true,
		job: { input: { command: ["true"], owner, priority: random.pick([900, 950]) } },
	});
	const ends = (): Op => ({
		id: 0,
		kind: "end",
		whom: { of: "running", pick: random.int(2 ** 31) },
		end: { kind: "completed", usage: { tokens: 50 } },
	});
	return [
		{ id: 0, kind: "configure", config: calm(config) },
		{
			id: 0,
			kind: "grant",
			subject: `owner:${owner}`,
			dim: "tokens",
			limit: 10,
			on_breach: random.pick(["stop", "stop", "finish"] as const),
		},
		...[add(), add(), add(), claim(10)],
		...Array.from({ length: 6 }, ends),
		claim(10),
	];
}

/** Runs that wait for jobs, and a daemon that starts again: the callers that waited are gone. */
function drawRestart(random: Random, config: Config): Op[] {
	const add = (): Op => ({ id: 0, kind: "add", force: true, job: { input: { command: ["true"], priority: random.pick([900, 950]) } } });
	const wait = (): Op => ({
		id: 0,
		kind: "wait",
		whom: { of: "running", pick: random.int(2 ** 31) },
		of: "waiting",
		picks: [random.int(2 ** 31)],
	});
	return [
		{ id: 0, kind: "configure", config: { ...calm(config), max_concurrent: 2 } },
		...[add(), add(), claim(10), add(), add(), wait(), wait(), wait()],
		{ id: 0, kind: "unwait_all" },
		...[claim(10), wait(), claim(10)],
	];
}

/** Runs of two agents meet a provider that is down, some of them on accounts of their lane; tries go out, and some are answered. */
function drawProviderDown(random: Random, config: Config): Op[] {
	const calmed = calm(config);
	const lane = { ...(calmed.lanes.default ?? { max: null, priority: 0, retry: null, active_hours: [] }), max: null, active_hours: [] };
	const settings: Config = {
		...calmed,
		max_concurrent: 12,
		agent_retry: { ...calmed.agent_retry, max: 2, base_ms: 1000, on: ["crashed", "lost"] },
		accounts: { home: { max: null, max_api_calls: 10 }, work: { max: null, max_api_calls: 10 }, ...calmed.accounts },
		lanes: { ...calmed.lanes, default: { ...lane, accounts: random.pick([[], [], ["home", "work"]]) } },
		rate_limit: {
			...calmed.rate_limit,
			failover_after_ms: random.pick([1000, 30_000, 1_800_000]),
			outage_max_ms: random.pick([0, 20_000, 43_200_000, 43_200_000]),
		},
	};
	const add = (): Op => ({
		id: 0,
		kind: "add",
		force: true,
		job: { input: { agent: random.pick(AGENTS), prompt: "do it", lane: "default", priority: random.pick([900, 950]) } },
	});
	const someone = () => ({ of: "running" as const, pick: random.int(2 ** 31) });
	const ends = (): Op => {
		const how = random.weighted({ down: 10, answered: 3, well: 2, crashed: 1, limited: 0.5, cancelled: 0.5 });
		if (how === "answered") return { id: 0, kind: "answered", whom: someone() };
		const end = {
			down: { kind: "crashed" as const, outage: true as const, session: `s${random.int(9)}` },
			well: { kind: "completed" as const },
			crashed: { kind: "crashed" as const },
			limited: { kind: "rate_limited" as const, retry_after_ms: 500 },
			cancelled: { kind: "cancelled" as const },
		}[how];
		return { id: 0, kind: "end", whom: someone(), end };
	};
	const rounds = Array.from({ length: 14 }, (): Op[] => [
		advance(random.pick([900, 6000, 6000, 12_000, 25_000, 90_000, 400_000])),
		claim(random.pick([1, 3, 10])),
		ends(),
		...(random.chance(0.3) ? [add()] : []),
		...(random.chance(0.3) ? [ends()] : []),
		...(random.chance(0.05) ? [{ id: 0, kind: "clear_account" as const, account: random.pick([...AGENTS, "home"]) }] : []),
	]);
	return [{ id: 0, kind: "configure", config: settings }, add(), add(), add(), add(), claim(10), ends(), ends(), ends(), ...rounds.flat()];
}

/** Few jobs that ask, are answered with a grant or without one, ask again, end, and are begun anew. */
function drawQuestions(random: Random, config: Config): Op[] {
	const any = (of: Whom["of"]): Whom => ({ of, pick: random.int(2 ** 31) });
	const add = (): Op => ({ id: 0, kind: "add", force: true, job: { input: { command: ["true"], priority: random.pick([900, 950]) } } });
	const ends = (kind: "needs_human" | "completed"): Op => ({
		id: 0,
		kind: "end",
		whom: any("running"),
		end: {
			kind,
			denied: random.pick([[], [], ["Bash: make"]]),
			...(kind === "needs_human" ? { question: "may I?" } : random.chance(0.5) ? { closing_question: "and now?" } : {}),
		},
	});
	const answers = (): Op => ({ id: 0, kind: "act", what: "answer", whom: any("asking"), text: "yes", ...random.pick(GRANTS) });
	const begins = (): Op => ({ id: 0, kind: "act", what: random.pick(["retry", "rerun"] as const), whom: any("ended") });
	const asked = (): Op[] => [claim(10), ends("needs_human"), answers()];
	const rounds = Array.from({ length: 4 }, (): Op[] => [...asked(), ...asked(), ...asked(), claim(10), ends("completed"), begins()]);
	return [{ id: 0, kind: "configure", config: { ...calm(config), max_concurrent: 2 } }, add(), add(), ...rounds.flat()];
}

const DRAWN = { outage: drawOutage, beat: drawBeat, breach: drawBreach, restart: drawRestart, questions: drawQuestions };
