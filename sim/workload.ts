// From a seed to a plan: a configuration, a world, and a list of operations, all decided before anything runs.

import type { FactValue } from "../src/contracts/host.ts";
import type { Config } from "../src/core/config.ts";
import { conditionKey } from "./model/gates/refusal.ts";
import type { Op, Plan } from "./operation.ts";
import { hash, type Random, randomFrom } from "./random.ts";
import { changeConfig, drawConfig } from "./workload/draw-config.ts";
import { drawFault } from "./workload/draw-fault.ts";
import { type Drawing, drawJob, drawManifest, drawRecurring } from "./workload/draw-job.ts";
import { drawAct, drawAdvance, drawCancelAll, drawClaim, drawEnd, drawKernel, drawStanding, drawWait } from "./workload/draw-op.ts";
import { addScene } from "./workload/draw-scenes.ts";
import { addWords } from "./workload/draw-words.ts";
import { BATCHES, COMMITS, drawThemes, ITEMS, LABELS, REPOS, SEEN_ARTIFACTS, SOURCE, type Themes } from "./workload/themes.ts";

export const START = Date.UTC(2026, 0, 5, 8, 0, 0);

export function planFor(seed: number, steps?: number): Plan {
	const random = randomFrom(seed);
	const themes = drawThemes(random);
	const { preset, config } = drawConfig(random, themes);
	const plan: Plan = {
		seed,
		config,
		start: START + random.int(5 * 86_400_000),
		file: themes.has("crashes") || themes.has("two"),
		hosts: drawHosts(random, themes),
		piece: random.pick([2, 3, 5, 300]),
		facts: drawFacts(random, themes),
		ops: [],
		...(preset === undefined ? {} : { preset }),
	};
	const count = steps ?? random.between(60, 130);
	const d: Drawing = { random, themes, config, slots: [], repos: themes.has("repos") ? REPOS : [], count: 0 };
	let current: Config = config;
	for (let id = 1; id <= count; id++) {
		d.count = id;
		const op = drawOp(d, id, current);
		if (op.kind === "configure") current = op.config;
		if (themes.has("two") && random.chance(0.4)) op.via = 1;
		if (op.fault === undefined && op.kind !== "together") drawFault(random, themes, op);
		plan.ops.push(op);
		if (op.kind === "add") d.slots.push(`${id}`);
		if (op.kind === "apply") d.slots.push(...op.jobs.slice(0, 20).map((_, index) => `${id}.${index}`));
	}
	addWords(plan);
	if (steps === undefined) addScene(plan, random, current);
	return plan;
}

function drawHosts(random: Random, themes: Themes): Plan["hosts"] {
	const names = themes.has("two") ? ["h0", "h1"] : ["h0"];
	return names.map((name) => ({
		name,
		labels: themes.has("labels") ? random.some(LABELS, 0.7) : [],
		...(random.chance(0.15) ? { repos: random.some(REPOS, 0.7) } : {}),
	}));
}

export function drawFacts(random: Random, themes: Themes): Plan["facts"] {
	const facts: Record<string, FactValue | { error: string }> = {};
	for (const { artifact, repo } of SEEN_ARTIFACTS) {
		if (random.chance(0.9)) facts[repo === undefined ? `artifact:${artifact}` : `artifact:${artifact}@${repo}`] = random.chance(0.4);
	}
	// Jobs of a repo look for `file:` in their own worktree.
	for (const repo of REPOS)
		for (const artifact of ["file:out.txt", "probe:ready"]) facts[`artifact:${artifact}@${repo}`] = random.chance(0.4);
	for (const repo of REPOS) {
		facts[`head:${repo}:main`] = random.pick(COMMITS);
		facts[conditionKey({ kind: "clean_worktree" }, repo)] = random.chance(0.7);
		facts[conditionKey({ kind: "branch_exists", branch: "topic" }, repo)] = random.chance(0.7);
		facts[conditionKey({ kind: "command", argv: ["check", "it"] }, repo)] = random.chance(0.7);
		facts[`busy:${repo}`] = null;
	}
	if (themes.has("items")) for (const item of ITEMS) facts[`item:${SOURCE}:${item}`] = { open: true, blocked_by: [] };
	return facts;
}

function drawFactOp(random: Random, id: number): Op {
	const told = random.chance(0.4) ? { told: true as const } : {};
	const repo = random.pick(REPOS);
	const what = random.weighted({ artifact: 6, head: 2, condition: 2, item: 3, busy: 1 });
	const pick = (): { key: string; value: FactValue | { error: string } | "gone" } => {
		if (what === "head") return { key: `head:${repo}:main`, value: random.pick([...COMMITS, null]) };
		if (what === "condition")
			return {
				key: conditionKey(random.pick([{ kind: "clean_worktree" as const }, { kind: "branch_exists" as const, branch: "topic" }]), repo),
				value: random.chance(0.6),
			};
		if (what === "item") {
			const value = random.weighted({ open: 4, blocked: 2, held: 1, closed: 1, busy: 1, taken: 2 });
			return {
				key: `item:${SOURCE}:${random.pick(ITEMS)}`,
				value: {
					open: value !== "closed",
					blocked_by: value === "blocked" ? ["app-9"] : [],
					...(value === "busy" || value === "taken" ? { in_progress: true } : {}),
					...(value === "taken" ? { taken: "hooked by ann" } : {}),
					...(value === "held" ? { held: "its status is deferred" } : {}),
				},
			};
		}
		if (what === "busy") return { key: `busy:${repo}`, value: random.pick(["merge", null, null]) };
		const one = random.pick(SEEN_ARTIFACTS);
		return {
			key: `artifact:${one.artifact}${one.repo === undefined ? "" : `@${one.repo}`}`,
			value: random.chance(0.05) ? { error: "unreadable" } : random.chance(0.6),
		};
	};
	return { id, kind: "fact", ...pick(), ...told };
}

export function drawOp(d: Drawing, id: number, current: Config): Op {
	const { random, themes } = d;
	const kind = random.weighted({
		add: 26,
		apply: themes.has("manifests") ? 3 : 0,
		claim: 18,
		end: 18,
		started: 6,
		advance: 12,
		tick: 5,
		act: themes.has("ranks") || themes.has("rewinds") || themes.has("approval") ? 12 : 4,
		standing: 8,
		fact: themes.has("artifacts") || themes.has("heads") || themes.has("conditions") || themes.has("items") ? 8 : 0,
		kernel: themes.has("kernel") ? 20 : 0,
		configure: themes.has("configure") ? 4 : 0,
		gc: themes.has("gc") ? 3 : 0,
		recover: themes.has("recover") ? 3 : 0,
		crash: themes.has("crashes") ? 2 : 0,
		look: 5,
		wait: themes.has("waits") ? 12 : 0,
		together: themes.has("together") ? 5 : 0,
	});
	switch (kind) {
		case "add":
			return drawInside(d, { id, kind, job: drawJob(d), ...(random.chance(0.1) ? { force: true as const } : {}) });
		case "apply": {
			if (themes.has("names") && random.chance(0.4))
				return { id, kind, jobs: drawRecurring(d), ...(random.chance(0.4) ? { again: true as const } : {}) };
			const size = themes.has("crowd") && random.chance(0.5) ? random.between(12, 30) : random.between(1, 8);
			return { id, kind, jobs: drawManifest(d, size), ...(random.chance(0.3) ? { batch: random.pick(BATCHES) } : {}) };
		}
		case "tick":
			return { id, kind };
		case "claim":
			return drawClaim(d, id);
		case "end":
			return drawEnd(d, id);
		case "started":
			return { id, kind, whom: { of: "running", pick: random.int(2 ** 31) }, ...(random.chance(0.05) ? { stale: true as const } : {}) };
		case "advance":
			return drawAdvance(d, id);
		case "act":
			return drawAct(d, id);
		case "standing":
			return drawStanding(d, id);
		case "fact":
			return drawFactOp(random, id);
		case "kernel":
			return drawKernel(d, id);
		case "configure":
			return { id, kind, config: changeConfig(random, current, themes) };
		case "gc":
			return { id, kind, days: random.pick([0, 0, 1]) };
		case "recover":
			return { id, kind, pick: random.int(2 ** 31), ...(random.chance(0.3) ? { reboot: true as const } : {}) };
		case "crash":
			return { id, kind };
		case "wait":
			return drawWait(d, id);
		case "look":
			return { id, kind, what: random.pick(["plan", "status", "positions", "ledgers", "show", "missing"]) };
		case "together": {
			const quiet: Drawing = {
				...d,
				themes: new Set(
					[...themes].filter((theme) => theme !== "together" && theme !== "crashes" && theme !== "disk" && theme !== "crowd"),
				),
			};
			// A claim in the turn in which many are cancelled must not start one of them.
			if (random.chance(0.15)) return { id, kind, ops: [drawCancelAll(random, id * 1000, 60), drawClaim(quiet, id * 1000 + 1)] };
			const ops = Array.from({ length: random.between(2, 4) }, (_, index) => {
				const inner = random.weighted({ add: 4, claim: 2, end: 3, act: 2 });
				const at = id * 1000 + index;
				return inner === "add"
					? ({ id: at, kind: "add", job: drawJob({ ...quiet, count: at }) } as Op)
					: inner === "claim"
						? drawClaim(quiet, at)
						: inner === "end"
							? drawEnd(quiet, at)
							: drawAct(quiet, at);
			});
			return { id, kind, ops };
		}
	}
}

/** Where there are families or unique keys, some jobs are added by runs. Not from the stream of chance: what earlier seeds draw otherwise stays as it was. */
function drawInside({ themes }: Drawing, op: Op & { kind: "add" }): Op {
	const { id, job } = op;
	if (!(themes.has("parents") || themes.has("unique")) || hash("inside", id) % 2 === 1) return op;
	const { unique } = job.input;
	if (unique && hash("replace", id) % 2 === 0) unique.policy = "replace";
	return { ...op, inside: hash("whose", id) };
}
