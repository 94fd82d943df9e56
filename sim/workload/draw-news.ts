// Processes that hear what others add: one of them works, another adds what it can tell of, and the first goes on with what it remembers.

import type { Op, Plan } from "../operation.ts";
import { hash } from "../random.ts";
import { type Drawing, drawJob } from "./draw-job.ts";
import { drawEnd } from "./draw-op.ts";
import { KEYS, type Theme } from "./themes.ts";

/** Other jobs change more than they add. */
const TOLD: readonly Theme[] = ["delays", "deadlines", "retries", "owners", "accounts", "uses", "approval", "agents", "payloads", "locks"];
const SCENES = 4;

/** Apart from the other chances: what a seed was before, it is also when it is told. */
export const isTold = (seed: number): boolean => hash("told", seed) % 2 === 0;

/** What a plan ends with where processes are told. */
export function addNews(plan: Plan, d: Drawing): void {
	for (let scene = 0; scene < SCENES; scene++) {
		const first = (plan.ops.at(-1)?.id ?? 0) + 1;
		plan.ops.push(...drawScene(d, plan.hosts).map((op, index) => ({ ...op, id: first + index })));
	}
}

/** Somebody comes to wait for a lock, or stands in line, whom the one that gives it back has only been told of. */
function drawScene(d: Drawing, hosts: Plan["hosts"]): Op[] {
	const { random } = d;
	const via = random.int(hosts.length);
	const other = (via + random.between(1, hosts.length - 1)) % hosts.length;
	const host = hosts[via]?.name ?? "";
	const key = random.pick(KEYS);
	const plain: Drawing = { ...d, themes: new Set(TOLD.filter((theme) => d.themes.has(theme))) };
	const arrivals = Array.from({ length: random.between(1, 3) }, (): Op => {
		const job = drawJob(plain);
		if (random.chance(0.6)) job.input.locks = [{ key, mode: random.pick(["shared", "exclusive", "exclusive"]) }];
		return { id: 0, kind: "add", job, via: other };
	});
	return [
		{ id: 0, kind: "add", job: { input: { command: ["true"], priority: 50, locks: [{ key, mode: "exclusive" }] } }, via },
		{ id: 0, kind: "heartbeat", host, via },
		{ id: 0, kind: "claim", host, max: random.pick([1, 2, 3]), via },
		...arrivals,
		{ ...drawEnd(plain, 0), via },
		{ ...drawEnd(plain, 0), via },
		{ id: 0, kind: "claim", host, max: random.pick([1, 2, 3]), via },
	];
}
