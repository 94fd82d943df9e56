// Gate `host`: a live host has the repo and the labels; if several do, the host that has the job's worktree or session. Outside workers bring their own place
// to run.

import type { Bucket } from "../../bucket.ts";
import { type HostState, hostState } from "../../fleet.ts";
import type { HostRecord } from "../../limits-view.ts";
import { type BucketGate, pass, refuse } from "../gate.ts";

type Wish = Pick<Bucket, "repo" | "labels">;

/** What a host lacks for the job, in words. */
export function lacks(host: Pick<HostRecord, "labels" | "repos">, wish: Wish): string[] {
	const repo = wish.repo !== undefined && host.repos !== null && !host.repos.includes(wish.repo) ? [`repo ${wish.repo}`] : [];
	return [...repo, ...(wish.labels ?? []).filter((label) => !host.labels.includes(label)).map((label) => `label ${label}`)];
}

export const suits = (host: HostRecord, wish: Wish, now: number): boolean =>
	hostState(host, now) === "live" && lacks(host, wish).length === 0;

/** Maximum hosts named in a reason, so that it fits on one line. */
const NAMED_HOSTS = 3;
const STATE_WORDS: Record<HostState, string> = { live: "", draining: "is draining", stale: "has not been heard of", gone: "is gone" };

/** Why each host cannot take the job: `a is draining; b lacks label gpu`. */
function whyNot(hosts: readonly HostRecord[], wish: Wish, now: number): string {
	const words = hosts.flatMap((one): [number, string][] => {
		const missing = lacks(one, wish);
		const state = STATE_WORDS[hostState(one, now)];
		// A host that only is in the wrong state comes first: it is most likely to become able.
		if (missing.length === 0) return state === "" ? [] : [[0, `${one.name} ${state}`]];
		return hostState(one, now) === "gone" ? [] : [[1, `${one.name} lacks ${missing.join(", ")}`]];
	});
	const lines = words.sort(([a], [b]) => a - b).map(([, text]) => text);
	const more = lines.length > NAMED_HOSTS ? [`${lines.length - NAMED_HOSTS} more`] : [];
	return [...lines.slice(0, NAMED_HOSTS), ...more].join("; ");
}

/** The hosts that the job may go to: the one with its worktree or session while that is able, else all able hosts. */
export function ableHosts(bucket: Wish & Pick<Bucket, "stays">, hosts: readonly HostRecord[], now: number): HostRecord[] {
	const able = hosts.filter((one) => suits(one, bucket, now));
	const bound = bucket.stays === undefined ? undefined : able.find(({ name }) => name === bucket.stays);
	return bound ? [bound] : able;
}

export const host: BucketGate = {
	name: "host",
	ask(bucket, world) {
		if (bucket.kind === "payload" && bucket.labels === undefined && world.host === undefined) return pass;
		// The common case first, which needs no list of all hosts that could: a fleet has up to a thousand.
		if (world.host !== undefined && bucket.stays === undefined) {
			const asking = world.hosts.find(({ name }) => name === world.host);
			if (asking && suits(asking, bucket, world.now)) return pass;
		}
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
		// A job without particular wishes depends on any host.
		return [refuse("host", "no_host", wants.join(",") || "any host", `no live host${what}${why === "" ? "" : `: ${why}`}`)];
	},
};
