// A random job, out of the themes of its seed.

import type { Config } from "../../src/core/config.ts";
import type { JobInput, Policy } from "../../src/core/job.ts";
import type { JobPlan, Slot } from "../operation.ts";
import type { Random } from "../random.ts";
import {
	ACCOUNTS,
	AGENTS,
	BATCHES,
	COMMITS,
	ITEMS,
	KEYS,
	LABELS,
	MARKERS,
	OWNERS,
	REPOS,
	SEEN_ARTIFACTS,
	SOURCE,
	type Themes,
} from "./themes.ts";

export type Drawing = { random: Random; themes: Themes; config: Config; slots: Slot[]; repos: string[]; count: number };

const MINUTE = 60_000;
const policy = (random: Random): Policy => random.weighted({ success: 5, any: 2, failure: 2, merged: 1 });

export function drawJob(d: Drawing): JobPlan {
	const { random, themes } = d;
	const input: JobInput = {};
	const plan: JobPlan = { input };
	drawKind(d, input);
	if (random.chance(0.8)) input.lane = random.pick(Object.keys(d.config.lanes));
	if (random.chance(0.3)) input.priority = random.between(-2, 20);
	if (themes.has("repos") && d.repos.length > 0 && random.chance(0.5)) input.repo = random.pick(d.repos);
	if (themes.has("names")) drawNames(d, plan);
	if (themes.has("batches") && random.chance(0.4)) input.batch = random.pick(BATCHES);
	if (themes.has("owners") && random.chance(0.6)) input.owner = random.pick(OWNERS);
	if (themes.has("accounts") && random.chance(0.3)) input.account = random.pick(ACCOUNTS);
	if (themes.has("uses") && random.chance(0.4)) input.uses = { build: random.between(1, 2), ...(random.chance(0.3) ? { gpu: 1 } : {}) };
	if (themes.has("labels") && random.chance(0.3)) input.host_labels = random.some(LABELS, 0.5);
	if (themes.has("approval") && random.chance(0.3)) input.requires_approval = true;
	// By the number of jobs: what is drawn after it stays the same.
	if (input.requires_approval && d.slots.length % 3 === 0) input.hold = true;
	if (themes.has("retries") && random.chance(0.3))
		input.retry = random.chance(0.5) ? random.between(0, 3) : { max: random.between(1, 3), base_ms: 2000, jitter: 0 };
	drawTimes(d, plan);
	drawDependencies(d, plan);
	drawLocks(d, input);
	drawItem(d, input);
	drawMerge(d, input);
	if (themes.has("unique") && random.chance(0.3))
		input.unique = {
			key: random.pick(["u1", "u2"]),
			policy: random.pick(["skip", "skip", "replace", "error"]),
			...(random.chance(0.5) ? { window_ms: random.pick([5000, 10 * MINUTE]) } : {}),
		};
	if (themes.has("bad") && random.chance(0.15)) spoil(d, plan);
	return plan;
}

/** A few names that come again and again: free when their job has ended, else a conflict. */
const NAMES = ["same", "twin"];

function drawNames({ random, themes, count }: Drawing, plan: JobPlan): void {
	if (random.chance(0.4)) plan.input.name = random.chance(0.5) ? random.pick(NAMES) : `n${count}`;
	if (random.chance(0.1)) plan.after_names = [{ name: random.pick(NAMES), ...(random.chance(0.5) ? { policy: "any" as const } : {}) }];
	if (themes.has("parents") && random.chance(0.1)) plan.input.parent = random.pick(NAMES);
}

function drawKind(d: Drawing, input: JobInput): void {
	const { random, themes } = d;
	const kind = random.weighted({
		command: 4,
		agent: themes.has("agents") || themes.has("launches") ? 5 : 1,
		payload: themes.has("payloads") ? 5 : 1,
	});
	if (kind === "command") input.command = ["true"];
	if (kind === "agent") Object.assign(input, { agent: random.pick(AGENTS), prompt: "do it" });
	if (kind === "payload") input.payload = { n: d.count };
}

function drawTimes({ random, themes }: Drawing, plan: JobPlan): void {
	if (themes.has("delays") && random.chance(0.3)) plan.runnable_in = random.pick([-60_000, 500, 3000, MINUTE, 20 * MINUTE]);
	if (themes.has("deadlines") && random.chance(0.3))
		plan.deadline_in = Math.max(plan.runnable_in ?? 0, 0) + random.pick([1, 4000, 2 * MINUTE, 60 * MINUTE]);
}

function drawDependencies(d: Drawing, plan: JobPlan): void {
	const { random, themes, slots } = d;
	const recent = slots.slice(-8);
	if (themes.has("after") && recent.length > 0 && random.chance(0.45)) {
		const count = random.pick([1, 1, 2, 3]);
		plan.after = Array.from({ length: count }, () => ({
			slot: random.pick(recent),
			...(random.chance(0.7) ? { policy: policy(random) } : {}),
		}));
	}
	if (themes.has("parents") && recent.length > 0 && random.chance(0.4)) {
		plan.parent = random.pick(recent);
		if (random.chance(0.4)) plan.input.parent_gate = random.pick(["success", "none"]);
	}
	if (!themes.has("artifacts")) return;
	const names = MARKERS.concat(
		SEEN_ARTIFACTS.filter((one) => one.repo === undefined || one.repo === plan.input.repo).map((one) => one.artifact),
	);
	if (random.chance(0.35)) plan.input.needs = random.some(names, 0.25);
	// What it needs itself it cannot be the one to make.
	if (random.chance(0.35)) plan.input.produces = random.some(names, 0.3).filter((name) => !plan.input.needs?.includes(name));
	if (recent.length > 0 && random.chance(0.15)) plan.needs_jobs = [{ kind: random.pick(["job", "patch"]), slot: random.pick(recent) }];
	if (random.chance(0.3)) plan.input.on_missing = random.pick(["block", "wait"]);
}

function drawLocks({ random, themes }: Drawing, input: JobInput): void {
	if (themes.has("locks") && random.chance(0.6)) {
		const keys = random.some(KEYS, 0.45);
		if (keys.length > 0) input.locks = keys.map((key) => ({ key, mode: random.pick(["shared", "exclusive"]) }));
	}
	if (!themes.has("serial")) return;
	if (random.chance(0.25)) input.serial = random.pick(["s1", "s2"]);
	if (input.repo !== undefined && random.chance(0.2)) input.worktree = random.pick(["wip", "topic"]);
}

function drawItem({ random, themes }: Drawing, input: JobInput): void {
	if (themes.has("items") && random.chance(0.3)) {
		Object.assign(input, {
			item: random.pick(ITEMS),
			source: SOURCE,
			phase: random.pick(["p1", "p2"]),
			parallelizable: random.chance(0.5),
		});
	}
	if (input.repo === undefined) return;
	if (themes.has("heads") && random.chance(0.4)) input.pinned_head = { branch: "main", commit: random.pick(COMMITS) };
	if (themes.has("conditions") && random.chance(0.4))
		input.conditions = [
			random.pick([
				{ kind: "clean_worktree" as const },
				{ kind: "branch_exists" as const, branch: "topic" },
				{ kind: "command" as const, argv: ["check", "it"] },
			]),
		];
}

function drawMerge({ random, themes }: Drawing, input: JobInput): void {
	if (!themes.has("merges") || input.repo === undefined) return;
	if (random.chance(0.6)) input.merge = random.pick(["direct", "mr", "local"]);
	if (random.chance(0.2)) input.no_merge = true;
}

/** Something that must be refused. */
function spoil({ random }: Drawing, plan: JobPlan): void {
	const how = random.pick(["lane", "repo", "after", "deadline", "label", "agent-and-command"]);
	if (how === "lane") plan.input.lane = "nowhere";
	if (how === "repo") plan.input.repo = "nowhere";
	if (how === "after") plan.after_missing = true;
	if (how === "deadline") Object.assign(plan, { runnable_in: 60_000, deadline_in: 1000 });
	if (how === "label") plan.input.host_labels = ["mainframe"];
}

/** The same manifest once more, or with fewer or more jobs: its names come again. */
export function drawRecurring({ random }: Drawing): JobPlan[] {
	return Array.from({ length: random.between(1, 3) }, (_, index) => ({
		input: { command: ["true"], name: `r${index}`, ...(random.chance(0.1) ? { priority: 3 } : {}) },
		...(index > 0 ? { after_names: [{ name: `r${index - 1}`, policy: "any" as const }] } : {}),
	}));
}

/** Manifests: jobs by name, edges to earlier ones, now and then a cycle. */
export function drawManifest(d: Drawing, size: number): JobPlan[] {
	const { random } = d;
	const plans: JobPlan[] = [];
	for (let index = 0; index < size; index++) {
		const plan = size > 11 ? { input: { command: ["true"] } as JobInput } : drawJob({ ...d, count: d.count * 100 + index });
		plan.input.name = `m${d.count}-${index}`;
		const count = index === 0 ? 0 : random.pick([0, 1, 1, 2]);
		const names = [...new Set(Array.from({ length: count }, () => `m${d.count}-${random.between(Math.max(0, index - 5), index - 1)}`))];
		if (names.length > 0)
			plan.after_names = names.map((name) => ({
				name,
				...(random.chance(0.3) ? { policy: random.pick(["success", "any", "failure"] as const) } : {}),
			}));
		delete plan.input.unique;
		plans.push(plan);
	}
	const first = plans[0];
	if (d.themes.has("bad") && first !== undefined && size > 2 && random.chance(0.2))
		first.after_names = [{ name: `m${d.count}-${size - 1}` }];
	return plans;
}

export const allRepos = REPOS;
