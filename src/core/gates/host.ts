// Gate 12: a live host has the repo and the labels; of several, the one that has what the job goes on with. Outside workers bring their own place to run.

import { pass, refuse } from "../answer.ts";
import type { Bucket } from "../bucket.ts";
import type { Reason } from "../reason.ts";
import type { HostRecord, World } from "../world.ts";

export function suits(host: HostRecord, bucket: Pick<Bucket, "repo" | "labels">): boolean {
	if (host.state !== "live") return false;
	if (bucket.repo !== undefined && host.repos !== null && !host.repos.includes(bucket.repo)) return false;
	return bucket.labels === undefined || bucket.labels.every((label) => host.labels.includes(label));
}

/** The hosts that it may go to: the one that has its worktree or session, while that can take it; else all that can. */
export function ableHosts(bucket: Pick<Bucket, "repo" | "labels" | "stays">, hosts: readonly HostRecord[]): HostRecord[] {
	const able = hosts.filter((one) => suits(one, bucket));
	const bound = bucket.stays === undefined ? undefined : able.find(({ name }) => name === bucket.stays);
	return bound ? [bound] : able;
}

export const host = {
	name: "host" as const,
	ask(bucket: Bucket, world: World): Reason[] | null {
		if (bucket.kind === "kernel" || (bucket.kind === "payload" && bucket.labels === undefined && world.host === undefined)) return pass;
		const able = ableHosts(bucket, world.hosts);
		if (able.some(({ name }) => world.host === undefined || name === world.host)) return pass;
		const [bound] = able;
		if (bound && bound.name === bucket.stays)
			return [refuse("host", "no_host", `host ${bound.name}`, `it goes on on host ${bound.name}, which has its worktree or its session`)];
		const wants = [
			...(bucket.repo === undefined ? [] : [`repo ${bucket.repo}`]),
			...(bucket.labels ?? []).map((label) => `label ${label}`),
		];
		const what = wants.length > 0 ? ` with ${wants.join(", ")}` : "";
		return [refuse("host", "no_host", wants.join(","), `no live host${what}`)];
	},
};
