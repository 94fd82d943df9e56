// Names of jobs. Only one open job at a time has a name; once it has ended, the next job may take the name. A name refers to the open job that has it, else
// to the newest job that had it.
//
//   record name/<name>       the job that the name refers to
//   links <name>, `named`    all jobs of a name, once a second job has taken it: what the name refers to when the newest is forgotten

import { ask, type Op } from "../../contracts/store.ts";
import { nth, SluiceError } from "../../core/errors.ts";
import { nameOfArtifact } from "../../core/fact.ts";
import type { Draft } from "../../core/input/job.ts";
import { nearest } from "../../core/input/nearest.ts";
import { isTerminal, type Job } from "../../core/job.ts";
import type { Tx } from "../transaction/tx.ts";

const linkKey = (name: string): string => `name:${name}`;
const PAGE = 1000;

/** The job that a name refers to. Jobs of an apply that is still coming in do not count: until it is complete, the name refers to the job before. */
export function* jobNamed(tx: Tx, name: string): Op<number | null> {
	const id = yield* tx.get("name", name);
	return id !== null && tx.isComing(id) ? yield* newestOf(name, (one) => !tx.isComing(one)) : id;
}

/** The open job that has this name now, including a job of an apply that is still coming in. */
export function* openHolder(tx: Tx, name: string): Op<number | null> {
	const id = yield* tx.get("name", name);
	const job = id === null ? undefined : yield* tx.find(id);
	return job && !isTerminal(job.status) ? job.id : null;
}

export function* refuseTaken(tx: Tx, name: string, field: string): Op<void> {
	const taken = yield* openHolder(tx, name);
	if (taken !== null)
		throw new SluiceError("conflict", `${field}: job ${taken} is called "${name}" already`, {
			field,
			hint: `choose another name, or wait until job ${taken} has ended`,
		});
}

/** Gives a new job its name. */
export function* takeName(tx: Tx, { id, name }: Pick<Job, "id" | "name">): Op<void> {
	if (name === undefined) return;
	const before = yield* tx.get("name", name);
	if (before !== null) for (const job of [before, id]) tx.changes.links.push({ key: linkKey(name), role: "named", job });
	tx.put("name", name, id);
}

/** Takes the name from a job that is being forgotten: it then refers to the newest job left that had it. */
export function* dropName(tx: Tx, { id, name }: Pick<Job, "id" | "name">): Op<void> {
	if (name === undefined || (yield* tx.get("name", name)) !== id) return;
	tx.put("name", name, yield* newestOf(name, (one) => one !== id));
}

/** An older job of the name was run again and has ended: the name refers to the newest job again. */
export function* returnName(tx: Tx, job: Job): Op<void> {
	const { name } = job;
	job.older_name = undefined;
	if (name !== undefined) tx.put("name", name, (yield* newestOf(name, () => true)) ?? job.id);
}

/** Refuses a job that is not the newest of its name: `retry` of many jobs takes only the newest. */
export function* refuseOlder(tx: Tx, { id, name }: Job): Op<void> {
	const newest = name === undefined ? null : yield* jobNamed(tx, name);
	if (newest !== null && newest > id)
		throw new SluiceError("conflict", `job ${newest} is the newest one called "${name}"`, {
			field: "id",
			hint: `sluice retry ${id} alone`,
		});
}

/** Refuses to run ended jobs again if an open job, or another job that is run again with them, has one of their names. The error names that job. */
export function* refuseNames(tx: Tx, set: ReadonlyMap<number, Job>, along: ReadonlyMap<number, Job> = new Map()): Op<void> {
	const wanted = new Map<string, number>();
	for (const job of [...along.values(), ...set.values()]) {
		if (job.name === undefined) continue;
		const other = wanted.get(job.name);
		if (other !== undefined && other !== job.id)
			throw new SluiceError("conflict", `jobs ${other} and ${job.id} are both called "${job.name}": they cannot be open at the same time`, {
				field: "id",
				hint: `sluice rerun ${Math.max(other, job.id)} runs one of them alone`,
			});
		wanted.set(job.name, job.id);
		const holder = isTerminal(job.status) ? yield* openHolder(tx, job.name) : null;
		if (holder !== null && holder !== job.id)
			throw new SluiceError("conflict", `job ${job.id} cannot run again: job ${holder} is called "${job.name}" now`, {
				field: "id",
				hint: `wait for job ${holder}, or cancel it: sluice cancel ${holder}`,
			});
	}
}

/** Gives jobs that run again their names. A job that is not the newest of its name gives it back when it ends. */
export function* retakeNames(tx: Tx, set: ReadonlyMap<number, Job>): Op<void> {
	for (const job of set.values()) {
		if (job.name === undefined) continue;
		const before = yield* tx.get("name", job.name);
		if (before === job.id) continue;
		tx.put("name", job.name, job.id);
		if (before !== null) job.older_name = true;
	}
}

/** The newest job of a name that more than one job has had, among those that fit. */
function* newestOf(name: string, fits: (id: number) => boolean): Op<number | null> {
	let newest: number | null = null;
	for (let after = 0; ; ) {
		const page = yield* ask({ read: "links", key: linkKey(name), role: "named", after, limit: PAGE });
		for (const id of page) if (fits(id)) newest = Math.max(newest ?? 0, id);
		if (page.length < PAGE) return newest;
		after = nth(page, -1);
	}
}

/** Names of jobs in fields that store only numbers: `parent`, and `job:` or `patch:` in `needs`. */
export function namesIn({ parent, job }: Pick<Draft, "parent" | "job">): { name: string; field: string }[] {
	if (job.needs === undefined && typeof parent !== "string") return NONE;
	const needed = (job.needs ?? []).flatMap((artifact) => nameOfArtifact(artifact) ?? []).map((name) => ({ name, field: "needs" }));
	return typeof parent === "string" ? [{ name: parent, field: "parent" }, ...needed] : needed;
}
const NONE: never[] = [];

export function putNumbersInto(draft: Draft, numbers: ReadonlyMap<string, number>, mates?: Mates): void {
	if (typeof draft.parent === "string") draft.parent = numbers.get(draft.parent) ?? draft.parent;
	draft.job = numberNeeds(draft.job, numbers, mates);
}

/** Needs that name a job of the same manifest, which has no number yet. */
type Mates = Pick<ReadonlyMap<string, unknown>, "has">;

/** The job with numbers for the names in its `needs`. */
export const numberNeeds = (job: Job, numbers: ReadonlyMap<string, number>, mates?: Mates): Job =>
	job.needs === undefined || numbers.size === 0
		? job
		: {
				...job,
				needs: job.needs.map((artifact) => {
					const number = mates?.has(artifact) ? undefined : numbers.get(nameOfArtifact(artifact) ?? "");
					return number === undefined ? artifact : `${artifact.slice(0, artifact.indexOf(":"))}:${number}`;
				}),
			};

/** Ids of several names. Throws `not_found` for a name that no job has. */
export function* numberNames(tx: Tx, names: readonly { name: string; field: string }[]): Op<Map<string, number>> {
	const numbers = new Map<string, number>();
	for (const { name, field } of names) {
		const id = yield* jobNamed(tx, name);
		if (id === null) {
			const guess = yield* nearestName(name);
			throw new SluiceError("not_found", `${field}: there is no job called "${name}"`, {
				field,
				hint: guess ? `did you mean "${guess}"?` : "sluice list --all shows the jobs that exist",
			});
		}
		numbers.set(name, id);
	}
	return numbers;
}

/** Maximum number of names that a mistyped name is compared with. */
const COMPARED = 1000;

export function* nearestName(name: string): Op<string | undefined> {
	const active = yield* ask({ read: "active", filter: {}, after: 0, limit: COMPARED });
	return nearest(
		name,
		active.flatMap((job) => job.name ?? []),
	);
}
