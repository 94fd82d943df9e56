// Gate 12: a live host has the repo and the labels; of several, the one that has what the job goes on with. Outside workers bring their own place to run.

import { pass, refuse } from "../answer.ts";
import type { Bucket } from "../bucket.ts";
import { type HostState, hostState } from "../fleet.ts";
import type { Reason } from "../reason.ts";
import type { HostRecord, World } from "../world.ts";

type Wish = Pick<Bucket, "repo" | "labels">;

/** What of this a host does not have, as words. */
export function lacks(host: Pick<HostRecord, "labels" | "repos">, wish: Wish): string[] {
	const repo = wish.repo !== undefined && host.repos !== null && !host.repos.includes(wish.repo) ? [`repo ${wish.repo}`] : [];
	return [...repo, ...(wish.labels ?? []).filter((label) => !host.labels.includes(label)).map((label) => `label ${label}`)];
}

export const suits = (host: HostRecord, wish: Wish, now: number): boolean =>
	hostState(host, now) === "live" && lacks(host, wish).length === 0;

/** Hosts that are named in a reason; with more of them it would be no line any more. */
const NAMED = 3;
const STATE_WORDS: Record<HostState, string> = { live: "", draining: "is draining", stale: "has not been heard of", gone: "is gone" };

/** Why each host is none for it: `a is draining; b lacks label gpu`. */
function whyNot(hosts: readonly HostRecord[], wish: Wish, now: number): string {
	const words = hosts.flatMap((one): [number, string][] => {
		const missing = lacks(one, wish);
		const state = STATE_WORDS[hostState(one, now)];
		// One that has what it takes comes first: it is the nearest to an answer.
		if (missing.length === 0) return state === "" ? [] : [[0, `${one.name} ${state}`]];
		return hostState(one, now) === "gone" ? [] : [[1, `${one.name} lacks ${missing.join(", ")}`]];
	});
	const lines = words.sort(([a], [b]) => a - b).map(([, text]) => text);
	const more = lines.length > NAMED ? [`${lines.length - NAMED} more`] : [];
	return [...lines.slice(0, NAMED), ...more].join("; ");
}

/** The hosts that it may go to: the one that has its worktree or session, while that can take it; else all that can. */
export function ableHosts(bucket: Wish & Pick<Bucket, "stays">, hosts: readonly HostRecord[], now: number): HostRecord[] {
	const able = hosts.filter((one) => suits(one, bucket, now));
	const bound = bucket.stays === undefined ? undefined : able.find(({ name }) => name === bucket.stays);
	return bound ? [bound] : able;
}

export const host = {
	name: "host" as const,
	ask(bucket: Bucket, world: World): Reason[] | null {
		if (bucket.kind === "kernel" || (bucket.kind === "payload" && bucket.labels === undefined && world.host === undefined)) return pass;
		const able = ableHosts(bucket, world.hosts, world.now);
		if (able.some(({ name }) => world.host === undefined || name === world.host)) return pass;
		const [bound] = able;
		if (bound && bound.name === bucket.stays)
			return [refuse("host", "no_host", `host ${bound.name}`, `it goes on on host ${bound.name}, which has its worktree or its session`)];
		const candidates = world.host === undefined ? world.hosts : world.hosts.filter((one) => one.name === world.host);
		const wants = [
			...(bucket.repo === undefined ? [] : [`repo ${bucket.repo}`]),
			...(bucket.labels ?? []).map((label) => `label ${label}`),
		];
		const what = wants.length > 0 ? ` with ${wants.join(", ")}` : "";
		const why = whyNot(candidates, bucket, world.now);
		// One that wants nothing in particular hangs on any of them.
		return [refuse("host", "no_host", wants.join(",") || "any host", `no live host${what}${why === "" ? "" : `: ${why}`}`)];
	},
};
