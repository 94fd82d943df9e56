// From a seed to a plan for a fleet: two or three hosts with homes and leases, of which one or the other falls silent, is drained, leaves, dies and comes back.

import type { Config } from "../../src/core/config.ts";
import type { Op, Plan } from "../operation.ts";
import { hash, type Random, randomFrom } from "../random.ts";
import { drawFacts, drawOp, START } from "../workload.ts";
import { drawConfig } from "./draw-config.ts";
import { drawFault } from "./draw-fault.ts";
import type { Drawing } from "./draw-job.ts";
import { drawLeaderFault, drawMessageFault } from "./draw-message-fault.ts";
import { drawEnd } from "./draw-op.ts";
import { addWords } from "./draw-words.ts";
import { drawThemes, LABELS, REPOS, type Themes } from "./themes.ts";

/** Kernel entries know no hosts; the others would drown them. */
const WITHOUT = ["two", "kernel", "crowd", "calls"];

export function fleetPlanFor(seed: number, steps?: number): Plan {
	const random = randomFrom(hash("fleet", seed));
	const themes: Themes = new Set([...drawThemes(random)].filter((theme) => !WITHOUT.includes(theme)));
	const { preset, config } = drawConfig(random, themes);
	config.stale_after_ms = random.pick([5000, 60_000, 600_000, 600_000]);
	const hosts = drawHosts(random, themes);
	if (random.chance(0.3)) config.hosts = { h0: { max: random.between(1, 3) }, h1: { max: random.between(1, 2) } };
	const plan: Plan = {
		seed,
		fleet: true,
		config,
		start: START + random.int(5 * 86_400_000),
		file: true,
		hosts,
		piece: random.pick([2, 3, 5, 300]),
		facts: drawFacts(random, themes),
		ops: [],
		...(preset === undefined ? {} : { preset }),
	};
	const count = steps ?? random.between(60, 130);
	const d: Drawing = { random, themes, config, slots: [], repos: themes.has("repos") ? REPOS : [], count: 0 };
	let current = config;
	while (plan.ops.length < count) {
		const id = plan.ops.length + 1;
		d.count = id;
		const kind = random.weighted({ shared: 74, fleet: 22, race: themes.has("together") ? 8 : 0 });
		const ops =
			kind === "fleet"
				? drawFleet(random, id, hosts.length, current)
				: kind === "race"
					? drawRace(d, id, hosts.length, current)
					: drawShared(d, id, current, hosts);
		for (const op of ops) {
			if (op.kind === "configure") current = op.config;
			if (op.kind !== "together") drawFault(random, themes, op);
			plan.ops.push(op);
			if (op.kind === "add") d.slots.push(`${op.id}`);
			if (op.kind === "apply") d.slots.push(...op.jobs.slice(0, 20).map((_, index) => `${op.id}.${index}`));
		}
	}
	addWords(plan);
	return isLed(seed) ? withLeader(plan) : plan;
}

/** Of the plans of a fleet, one in so many is for processes that share a file; the others have a leader. */
const SHARED = 4;
const isLed = (seed: number) => seed % SHARED !== 0;

/** The same plan, for a fleet whose processes meet only in a database. */
function withLeader(plan: Plan): Plan {
	const random = randomFrom(hash("leader", plan.seed));
	for (const op of plan.ops) {
		// The clock of a database does not go back.
		if (op.kind === "advance" && op.jump !== undefined) op.jump = Math.abs(op.jump);
		delete op.fault;
		drawMessageFault(random, op);
	}
	const ops = plan.ops.flatMap((op) => [op, ...drawLedOnly(random, op.id, plan.hosts)]);
	return { ...plan, ops, leader: true };
}

/** What only a fleet with a leader knows, after an operation: now and then a claim that stands, rarely a request that ends its leaders. */
function drawLedOnly(random: Random, after: number, hosts: Plan["hosts"]): Op[] {
	const id = after * 1000 + 900;
	if (random.chance(0.012)) return [{ id, kind: "poison", job: { input: { command: ["true"] } } }];
	if (!random.chance(0.06)) return [];
	const via = random.int(hosts.length);
	const host = hosts[via]?.name ?? "h0";
	const other = random.int(hosts.length);
	const add = (index: number): Op => ({ id: id + index, kind: "add", via: other, job: { input: { command: ["true"] } } });
	const ops = Array.from({ length: random.between(0, 2) }, (_, index) => add(index + 2));
	// The next request of the same member is consumed while its claim stands.
	if (random.chance(0.4)) ops.unshift({ id: id + 5, kind: "mark", artifact: "custom:report:standing", via });
	const stand: Op = { id: id + 1, kind: "stand", via, ops };
	if (random.chance(0.4)) stand.fault = drawLeaderFault(random);
	return [{ id, kind: "heartbeat", host, via }, stand];
}

function drawHosts(random: Random, themes: Themes): Plan["hosts"] {
	const names = random.chance(0.4) ? ["h0", "h1", "h2"] : ["h0", "h1"];
	return names.map((name) => ({
		name,
		labels: themes.has("labels") ? random.some(LABELS, 0.7) : [],
		...(random.chance(0.15) ? { repos: random.some(REPOS, 0.7) } : {}),
	}));
}

/** Operations as on one host, said to any of them; claims mostly by a host for itself, and most hosts say that they are there when time has passed. */
function drawShared(d: Drawing, id: number, current: Config, hosts: Plan["hosts"]): Op[] {
	const { random } = d;
	const op = drawOp(d, id, current);
	const via = random.int(hosts.length);
	const host = hosts[random.chance(0.85) ? via : random.int(hosts.length)]?.name ?? "h0";
	op.via = via;
	if (op.kind === "advance") op.awake = awake(random, hosts.length);
	if (op.kind === "heartbeat") op.host = host;
	if (op.kind === "look" && random.chance(0.3)) op.what = "fleet";
	if (op.kind === "configure" && random.chance(0.3)) op.config.stale_after_ms = random.pick([5000, 60_000, 600_000]);
	if (op.kind === "together") op.ops.push(...random.some(asideOf(random, id, via, host), 0.5));
	if (op.kind === "end" && op.end.kind !== "launch_failed" && random.chance(0.5)) op.end.stays = true;
	// What ends at once cannot be lost.
	if (op.kind === "end" && random.chance(0.4)) return claimFor(random, id, via, host);
	if (op.kind === "claim" && op.host !== undefined) {
		op.host = host;
		if (random.chance(0.5)) return claimFor(random, id, via, host);
	}
	return [op];
}

/** What may be said to a host in the same turn as other things. */
const asideOf = (random: Random, id: number, via: number, host: string): Op[] => [
	{ id: id * 1000 + 101, kind: "heartbeat", host },
	{ id: id * 1000 + 102, kind: random.pick(["drain", "undrain"]), host: via },
];

/** Several processes at once, after a while in which some were not heard of. */
function drawRace(d: Drawing, id: number, hosts: number, config: Config): Op[] {
	const { random } = d;
	const ms = random.pick([1000, config.stale_after_ms, Math.min(30_000, Math.ceil(config.stale_after_ms / 10))]);
	const ops = Array.from({ length: random.between(2, 3) }, (_, index): Op => {
		const via = random.int(hosts);
		const host = `h${via}`;
		const at = { id: (id + 1) * 1000 + index, via };
		const what = random.weighted({ heartbeat: 4, claim: 4, tick: 4, end: 2, leave: 1, drain: 1, late: 1, add: 1 });
		if (what === "heartbeat") return { ...at, kind: what, host };
		if (what === "claim") return { ...at, kind: what, host, max: random.pick([1, 3]) };
		if (what === "end") return { ...drawEnd({ ...d, themes: new Set() }, at.id), via };
		if (what === "drain") return { ...at, kind: random.pick(["drain", "undrain"]), host: random.int(hosts) };
		if (what === "late") return { ...at, kind: what, what: "complete", pick: random.int(2 ** 31) };
		if (what === "add") return { ...at, kind: what, job: { input: { command: ["true"] } } };
		return { ...at, kind: what };
	});
	return [
		{ id, kind: "advance", ms, awake: random.some([0, 1, 2].slice(0, hosts), 0.5) },
		{ id: id + 1, kind: "together", ops },
	];
}

/** A daemon that is alive says so before it takes anything. */
const claimFor = (random: Random, id: number, via: number, host: string): Op[] => [
	{ id, kind: "heartbeat", host, via },
	{ id: id + 1, kind: "claim", host, via, max: random.pick([1, 2, 3, 10]) },
];

const awake = (random: Random, hosts: number, without?: number) =>
	random.some(
		Array.from({ length: hosts }, (_, index) => index).filter((index) => index !== without),
		0.85,
	);

/** What befalls a host, in one or several steps. */
function drawFleet(random: Random, id: number, hosts: number, config: Config): Op[] {
	const host = random.int(hosts);
	const other = (host + 1) % hosts;
	const kind = random.weighted({
		silence: 6,
		drain: 3,
		undrain: 3,
		leave: 2,
		remove: 2,
		die: 2,
		crash: 1,
		late: 4,
		overtake: 1,
		usurp: 2,
		offer: 1,
		beat: 2,
	});
	switch (kind) {
		case "silence":
			return drawSilence(random, id, host, hosts, config);
		case "drain":
			return [{ id, kind, host, via: random.int(hosts), ...(random.chance(0.4) ? { stop: true as const } : {}) }];
		case "undrain":
			return [{ id, kind, host, via: random.int(hosts) }];
		case "remove":
			return [{ id, kind, host, via: random.chance(0.8) ? other : host }];
		case "leave":
		case "die":
		case "crash":
			return [{ id, kind, via: host }];
		case "usurp":
			return [{ id, kind, who: random.pick(["home", "library", "renamed"]), via: host }];
		case "offer":
			return [{ id, kind, repos: random.chance(0.3) ? null : random.some(REPOS, 0.6), via: host }];
		case "late":
			return [{ id, kind, what: random.pick(["complete", "complete", "started", "extend"]), pick: random.int(2 ** 31), via: host }];
		case "overtake":
			return [{ id, kind, what: random.pick(["heartbeat", "claim", "leave"]), via: host }];
		case "beat":
			return [{ id, kind: "heartbeat", host: `h${host}`, via: host }];
	}
}

type Unnumbered<One = Op> = One extends Op ? Omit<One, "id"> : never;

/** It is not heard of until it is stale, mostly until it is lost; it may have died, and it may come back in between. */
function drawSilence(random: Random, id: number, host: number, hosts: number, config: Config): Op[] {
	const others = Array.from({ length: hosts }, (_, index) => index).filter((index) => index !== host);
	const lease = config.stale_after_ms;
	const grace = Math.min(30_000, Math.ceil(lease / 10));
	const spread = random.pick([0, 1, 1000]);
	const ops: Op[] = [];
	const via = others[0] ?? 0;
	const push = (op: Unnumbered) => ops.push({ ...op, id: id + ops.length } as Op);
	const beat: Unnumbered = { kind: "heartbeat", host: `h${host}`, via: host };
	const claim: Unnumbered = { kind: "claim", host: `h${host}`, via: host, max: 3 };
	if (random.chance(0.7)) ops.push(...claimFor(random, id, host, `h${host}`));
	if (random.chance(0.15)) push({ kind: "drain", host, via, stop: true });
	if (random.chance(0.3)) push({ kind: "die", via: host });
	push({ kind: "advance", ms: lease + spread, awake: others });
	if (random.chance(0.9)) push({ kind: "tick", via });
	if (random.chance(0.2)) push(claim);
	if (random.chance(0.25)) push(random.chance(0.7) ? beat : { kind: "leave", via: host });
	if (random.chance(0.15)) push({ kind: "usurp", who: "home", via: host });
	push({ kind: "advance", ms: random.chance(0.8) ? grace + spread : grace - 1, awake: others });
	push({ kind: "tick", via });
	if (random.chance(0.5))
		push({ kind: "late", what: random.pick(["complete", "complete", "started", "extend"]), pick: random.int(2 ** 31), via });
	if (random.chance(0.3)) push(claim);
	if (random.chance(0.15)) push({ kind: "remove", host, via });
	if (random.chance(0.6)) push(beat);
	return ops;
}
