// Plays a fleet against its database: hosts whose runs end and are followed by others, one lock that every writing transaction stands in line for.
//
// A host has one transaction at a time; what comes up meanwhile goes into its next one. A commit is noticed by the others, and some of them come to
// look. Nothing here runs for real: times are drawn and added up, by a seed, so that two plays of the same fleet agree.

import { type Constants, type Cost, FURTHER } from "./constants.ts";

export type Fleet = {
	hosts: number;
	/** Runs at a time on all hosts together. */
	runs: number;
	/** How long a run lasts, on average. */
	runSeconds: number;
	heartbeatSeconds: number;
	/** A host looks by itself so often. */
	pollSeconds: number;
	/** `all`: whoever hears a notice comes to look. `free`: only those that have room. */
	wake: "all" | "free";
	/** `lock`: looking stands in line like everything else. `apart`: it reads without the lock. */
	look: "lock" | "apart";
	/** A look after a notice waits a random part of this. */
	spreadSeconds: number;
	/** Seconds that are played, after as many that are not counted. */
	seconds: number;
	seed: number;
};

export type Outcome = {
	/** Of the lock's time. */
	busy: number;
	transactionsPerSecond: number;
	/** Of those, how many only looked. */
	looks: number;
	startsPerSecond: number;
	wantedPerSecond: number;
	/** From wanting the lock to having committed. */
	waitMs: { p50: number; p99: number };
	/** From the end of a run to the start of the next in its place. */
	gapMs: { p50: number; p99: number };
	oldestHeartbeatSeconds: number;
	/** Of one core of the database's machine, for looks apart from the lock and for notices. */
	beside: number;
	noticesPerSecond: number;
	walMbPerSecond: number;
	eventGbPerDay: number;
};

/** `place`: waits for something to do, is about to come and look, or stands in line since `since`. */
type Host = { ends: number[]; starts: number; beat: boolean; beatAt: number; place: "idle" | "coming" | "line"; since: number };
type Event = { at: number; host: number; what: "end" | "started" | "beat" | "poll" | "look" };

export function play(fleet: Fleet, constants: Constants): Outcome {
	const random = generator(fleet.seed);
	const events = new Heap();
	const each = Math.max(1, Math.round(fleet.runs / fleet.hosts));
	const hosts: Host[] = [];
	const line: number[] = [];
	const until = fleet.seconds * 2;
	const counted = { transactions: 0, looks: 0, starts: 0, busy: 0, beside: 0, notices: 0, oldest: 0 };
	const waits: number[] = [];
	const gaps: number[] = [];
	const seconds = ({ ms, trips }: Cost) => (ms + trips * constants.rttMs) / 1000;
	const lasting = () => -Math.log(1 - random()) * fleet.runSeconds;
	const base = seconds(constants.base) + fleet.hosts * seconds(constants.host);
	const idle = new Set<number>();
	let freeAt = 0;

	for (let host = 0; host < fleet.hosts; host++) {
		hosts.push({ ends: [], starts: 0, beat: false, beatAt: 0, place: "idle", since: 0 });
		idle.add(host);
		for (let run = 0; run < each; run++) events.push({ at: lasting(), host, what: "end" });
		events.push({ at: random() * fleet.heartbeatSeconds, host, what: "beat" });
		events.push({ at: random() * fleet.pollSeconds, host, what: "poll" });
	}

	const wants = (index: number, at: number) => {
		const host = hosts[index] as Host;
		if (host.place === "line") return;
		host.place = "line";
		host.since = at;
		idle.delete(index);
		line.push(index);
	};

	/** Reads apart cost the database as much, but nobody waits for them. */
	const look = (index: number, at: number) => {
		if (fleet.look === "lock") wants(index, at);
		else if (at >= fleet.seconds) counted.beside += (constants.base.ms + fleet.hosts * constants.host.ms) / 1000;
	};

	/** The next in line has the lock: what has come up until now is done in one transaction. */
	function serve(at: number): void {
		const index = line.shift() as number;
		const host = hosts[index] as Host;
		const begun = Math.max(at, freeAt);
		const { ends, starts, beat } = host;
		const took =
			base +
			group(ends.length, seconds(constants.end)) +
			group(ends.length, seconds(constants.claim)) +
			group(starts, seconds(constants.started)) +
			(beat ? seconds(constants.heartbeat) : 0);
		freeAt = begun + took;
		const writes = ends.length > 0 || starts > 0 || beat;
		if (begun >= fleet.seconds) {
			counted.transactions++;
			counted.busy += took;
			waits.push(freeAt - host.since);
			if (!writes) counted.looks++;
			counted.starts += ends.length;
			for (const ended of ends) gaps.push(freeAt - ended);
			if (beat) counted.oldest = Math.max(counted.oldest, freeAt - host.beatAt);
		}
		if (beat) host.beatAt = freeAt;
		for (const _ of ends) {
			events.push({ at: freeAt + lasting(), host: index, what: "end" });
			events.push({ at: freeAt + 0.03, host: index, what: "started" });
		}
		Object.assign(host, { ends: [], starts: 0, beat: false, place: "idle" });
		idle.add(index);
		if (!writes) return;
		if (begun >= fleet.seconds) {
			counted.notices++;
			counted.beside += (constants.listenerMs / 1000) * fleet.hosts;
		}
		notice(index, freeAt);
	}

	function notice(by: number, at: number): void {
		// With every slot taken nobody has room: whoever looks only for work of its own stays away.
		if (fleet.wake === "free") return;
		for (const index of [...idle]) {
			if (index === by) continue;
			if (fleet.spreadSeconds === 0) {
				look(index, at);
				continue;
			}
			// It hears more meanwhile, and comes once.
			(hosts[index] as Host).place = "coming";
			idle.delete(index);
			events.push({ at: at + random() * fleet.spreadSeconds, host: index, what: "look" });
		}
	}

	for (;;) {
		const next = events.peek();
		if (line.length > 0 && (next === undefined || Math.max(freeAt, (hosts[line[0] as number] as Host).since) <= next.at)) {
			const at = Math.max(freeAt, (hosts[line[0] as number] as Host).since);
			if (at >= until) break;
			serve(at);
			continue;
		}
		if (next === undefined || next.at >= until) break;
		events.pop();
		const host = hosts[next.host] as Host;
		if (next.what === "poll") {
			events.push({ at: next.at + fleet.pollSeconds, host: next.host, what: "poll" });
			look(next.host, next.at);
		} else if (next.what === "look") {
			// What it came for may have been done on the way.
			if (host.place !== "coming") continue;
			host.place = "idle";
			idle.add(next.host);
			look(next.host, next.at);
		} else {
			if (next.what === "end") host.ends.push(next.at);
			else if (next.what === "started") host.starts++;
			else {
				host.beat = true;
				events.push({ at: next.at + fleet.heartbeatSeconds, host: next.host, what: "beat" });
			}
			wants(next.host, next.at);
		}
	}

	const perSecond = (count: number) => count / fleet.seconds;
	const starts = perSecond(counted.starts);
	return {
		busy: counted.busy / fleet.seconds,
		transactionsPerSecond: perSecond(counted.transactions),
		looks: counted.transactions === 0 ? 0 : counted.looks / counted.transactions,
		startsPerSecond: starts,
		wantedPerSecond: (each * fleet.hosts) / fleet.runSeconds,
		waitMs: spread(waits),
		gapMs: spread(gaps),
		oldestHeartbeatSeconds: counted.oldest,
		beside: counted.beside / fleet.seconds,
		noticesPerSecond: perSecond(counted.notices),
		walMbPerSecond: (starts * constants.walBytes) / 2 ** 20,
		eventGbPerDay: (starts * constants.events * constants.eventBytes * 86_400) / 2 ** 30,
	};
}

/** Several of a kind in one transaction share most of what the first one costs. */
const group = (count: number, cost: number) => (count === 0 ? 0 : cost * (1 + (count - 1) * FURTHER));

function spread(values: number[]): { p50: number; p99: number } {
	values.sort((a, b) => a - b);
	const at = (share: number) => (values[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0) * 1000;
	return { p50: at(0.5), p99: at(0.99) };
}

/** Mulberry32. */
function generator(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** What happens next, first. */
class Heap {
	private readonly rows: Event[] = [];

	peek(): Event | undefined {
		return this.rows[0];
	}

	push(event: Event): void {
		const { rows } = this;
		let at = rows.push(event) - 1;
		while (at > 0) {
			const up = (at - 1) >> 1;
			if ((rows[up] as Event).at <= event.at) break;
			rows[at] = rows[up] as Event;
			at = up;
		}
		rows[at] = event;
	}

	pop(): void {
		const { rows } = this;
		const last = rows.pop();
		if (last === undefined || rows.length === 0) return;
		let at = 0;
		for (;;) {
			let down = at * 2 + 1;
			if (down >= rows.length) break;
			if (down + 1 < rows.length && (rows[down + 1] as Event).at < (rows[down] as Event).at) down++;
			if ((rows[down] as Event).at >= last.at) break;
			rows[at] = rows[down] as Event;
			at = down;
		}
		rows[at] = last;
	}
}
