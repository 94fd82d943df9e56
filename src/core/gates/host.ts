// Gate 12: a live host has the repo and the labels. Outside workers bring their own place to run.

import { pass, refuse } from "../answer.ts";
import type { Bucket } from "../bucket.ts";
import type { Reason } from "../reason.ts";
import type { HostRecord, World } from "../world.ts";

export function suits(host: HostRecord, bucket: Pick<Bucket, "repo" | "labels">): boolean {
	if (host.state !== "live") return false;
	if (bucket.repo !== undefined && host.repos !== null && !host.repos.includes(bucket.repo)) return false;
	return bucket.labels === undefined || bucket.labels.every((label) => host.labels.includes(label));
}

export const host = {
	name: "host" as const,
	ask(bucket: Bucket, world: World): Reason[] | null {
		if (bucket.kind === "kernel" || (bucket.kind === "payload" && bucket.labels === undefined && world.host === undefined)) return pass;
		const candidates = world.host === undefined ? world.hosts : world.hosts.filter((one) => one.name === world.host);
		if (candidates.some((one) => suits(one, bucket))) return pass;
		const wants = [
			...(bucket.repo === undefined ? [] : [`repo ${bucket.repo}`]),
			...(bucket.labels ?? []).map((label) => `label ${label}`),
		];
		const what = wants.length > 0 ? ` with ${wants.join(", ")}` : "";
		return [refuse("host", "no_host", wants.join(","), `no live host${what}`)];
	},
};
