// The verdict by the store: its events played again with counters of our own. Pure.
//
//   caps, keys     counted at each start and end, in the order of commits
//   attempts       one start and one end each, by the host that started it or by recovery
//   ends           as the program and the policy say; `lost` only where something was done to the host

import { CAPS, type Piece } from "./work.ts";

export type Told = { seq: number; at: number; kind: string; job: number | null; data: Record<string, unknown> };
/** Something that was done to a host. `kills`: its processes went with it, so that a run may be lost without its lease being over. */
export type Harm = { host: string; what: string; from: number; to: number; kills: boolean };
export type Attempt = {
	job: number;
	attempt: number;
	host: string;
	startedAt: number;
	endedAt: number | null;
	exitKind: string | null;
	message: string;
};

export type Verdict = { faults: string[]; attempts: Map<string, Attempt>; lost: number; highest: Record<string, number> };

/** What was done to a host can cost it its lease a little later. */
const AFTERMATH_MS = 10_000;
const TERMINAL = ["succeeded", "failed", "cancelled", "blocked_by_dependency"];
const FAILURES = ["failed", "crashed", "timeout", "stalled", "lost"];

export function replay(events: readonly Told[], pieces: ReadonlyMap<number, Piece>, harms: readonly Harm[]): Verdict {
	const faults: string[] = [];
	const attempts = new Map<string, Attempt>();
	const live = new Map<number, Attempt>();
	const statuses = new Map<number, string>();
	const failures = new Map<number, number>();
	const ends = new Map<number, number>();
	const highest: Record<string, number> = {};
	const lostHosts = new Map<string, number>();
	let [lost, before] = [0, 0];

	const count = (subject: string, max: number | null, of: (one: Attempt) => boolean, seq: number) => {
		const now = [...live.values()].filter(of).length;
		highest[subject] = Math.max(highest[subject] ?? 0, now);
		if (max !== null && now > max) faults.push(`event ${seq}: ${now} runs in ${subject}, ${max} allowed`);
	};

	function started({ seq, at, job: id, data }: Told & { job: number }): void {
		const piece = pieces.get(id);
		if (!piece) return void faults.push(`event ${seq}: job ${id} is none of ours`);
		const one: Attempt = {
			job: id,
			attempt: Number(data.attempt),
			host: String(data.worker).replace(/^host:/, ""),
			startedAt: at,
			endedAt: null,
			exitKind: null,
			message: "",
		};
		if (live.has(id)) faults.push(`event ${seq}: ${piece.name} started while attempt ${live.get(id)?.attempt} was live`);
		if (attempts.has(`${id}.${one.attempt}`)) faults.push(`event ${seq}: attempt ${id}.${one.attempt} started twice`);
		for (const name of piece.after) {
			const [of] = [...pieces].find(([, other]) => other.name === name) ?? [];
			if (of === undefined || statuses.get(of) !== "succeeded")
				faults.push(`event ${seq}: ${piece.name} started before ${name} had succeeded`);
		}
		for (const other of live.values()) {
			const beside = pieces.get(other.job) as Piece;
			const taken = [beside.exclusive, beside.shared];
			if (piece.exclusive !== null && taken.includes(piece.exclusive))
				faults.push(`event ${seq}: ${piece.name} has ${piece.exclusive} to itself beside ${beside.name}`);
			if (piece.shared !== null && beside.exclusive === piece.shared)
				faults.push(`event ${seq}: ${piece.name} shares ${piece.shared}, which ${beside.name} has to itself`);
		}
		live.set(id, one);
		attempts.set(`${id}.${one.attempt}`, one);
		count("all", CAPS.all, () => true, seq);
		count(`host:${one.host}`, CAPS.host, ({ host }) => host === one.host, seq);
		count(`lane:${piece.lane}`, CAPS.lanes[piece.lane], (other) => pieces.get(other.job)?.lane === piece.lane, seq);
	}

	/** `requeued`, or `ended` of a job that ran. */
	function over(event: Told & { job: number }): void {
		const { seq, at, job: id, data } = event;
		const one = live.get(id);
		const piece = pieces.get(id) as Piece;
		if (!one) return void faults.push(`event ${seq}: a run of ${piece.name} ended that had not started`);
		live.delete(id);
		one.endedAt = at;
		one.exitKind = String(data.exit_kind);
		one.message = String(data.message ?? data.end_reason ?? "");
		if (Number(data.attempt) !== one.attempt) faults.push(`event ${seq}: attempt ${data.attempt} ended instead of ${one.attempt}`);
		const wanted = piece.cancel ? "cancelled" : one.attempt > piece.fails ? "completed" : "failed";
		if (one.exitKind === "lost") {
			lost++;
			const harmed = harms.filter(({ from, to }) => from <= at && to + AFTERMATH_MS >= one.startedAt);
			const given = (lostHosts.get(one.host) ?? -1) >= one.startedAt;
			const killed = harmed.some(({ host, kills }) => host === one.host && kills);
			// A host that is stopped in a transaction holds up all others for some seconds: their leases may not outlast that.
			const cause = given || killed || (/could not renew|^scheduler recovery$/.test(one.message) && harmed.length > 0);
			if (!cause) faults.push(`event ${seq}: attempt ${id}.${one.attempt} on ${one.host} was lost without a cause: ${one.message}`);
		} else if (one.exitKind !== wanted)
			faults.push(
				`event ${seq}: attempt ${id}.${one.attempt} (${piece.name}) ended as ${one.exitKind} instead of ${wanted}: ${one.message}`,
			);
		// What a host loses burns nothing; a run that its own daemon finds dead does.
		const free = one.exitKind === "lost" && /host .* was lost|could not renew/.test(one.message);
		const burned = (failures.get(id) ?? 0) + (!free && FAILURES.includes(one.exitKind) ? 1 : 0);
		failures.set(id, burned);
		const retried = free || (FAILURES.includes(one.exitKind) && burned <= piece.retries);
		if (retried !== (event.kind === "requeued"))
			faults.push(`event ${seq}: ${piece.name} was ${event.kind} after ${one.exitKind}, ${burned} failures of ${piece.retries} allowed`);
	}

	for (const event of events) {
		const { seq, kind, job, data } = event;
		if (seq <= before) faults.push(`event ${seq} comes after ${before}`);
		before = seq;
		if (kind === "host_lost") lostHosts.set(String(data.host), event.at);
		if (job === null) continue;
		const of = event as Told & { job: number };
		if (kind === "started") started(of);
		if (kind === "requeued" || (kind === "ended" && data.from === "running")) over(of);
		if (typeof data.to === "string") {
			if (TERMINAL.includes(data.to)) ends.set(job, (ends.get(job) ?? 0) + 1);
			else if (TERMINAL.includes(statuses.get(job) ?? "")) faults.push(`event ${seq}: job ${job} went on after its end`);
			statuses.set(job, data.to);
		}
	}

	for (const [id, { name }] of pieces) {
		if (ends.get(id) !== 1) faults.push(`job ${id} (${name}) ended ${ends.get(id) ?? 0} times: it is ${statuses.get(id) ?? "unknown"}`);
	}
	for (const one of live.values()) faults.push(`attempt ${one.job}.${one.attempt} has no end`);
	return { faults, attempts, lost, highest };
}
