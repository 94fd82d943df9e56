// The methods of hosts: the machines that run jobs.

import type { HostDocument } from "../documents/status.ts";
import type { Doc, JobDocument } from "../documents.ts";
import { adminMethod, flag, label, maybe, operatorMethod, text, viewerMethod } from "../fields.ts";

const NAME = { name: label("the host") };
const REASON = { reason: maybe(text("why, for the record", 10_000)) };

export const HOST_METHODS = {
	"host.list": viewerMethod<Doc<{ hosts: HostDocument[] }>>()({
		about: "Hosts: their state, labels, runs, and when they were last heard of.",
		params: {},
		result: "{hosts: [{name, state, labels, repos, running, max, heartbeat_at, joined_at, lease_until, drain: {by, at, reason}, gone}]}",
	}),
	"host.show": viewerMethod<Doc<{ host: HostDocument; jobs: JobDocument[] }>>()({
		about: "One host, and the jobs that run on it.",
		params: NAME,
		result: "{host, jobs}",
	}),
	"host.drain": operatorMethod<Doc<{ host: HostDocument; stopping: number[] }>>()({
		about: "Lets a host claim nothing more, also after a restart. What runs on it goes on, unless it is to be stopped.",
		params: { ...NAME, stop: maybe(flag("stop what runs there, too; it goes back into the queue and burns nothing")), ...REASON },
		result: "{host, stopping}",
	}),
	"host.undrain": operatorMethod<Doc<{ host: HostDocument }>>()({ about: "Lets a host claim again.", params: NAME, result: "{host}" }),
	"host.remove": adminMethod<Doc<{ removed: string }>>()({
		about: "Forgets a host that is gone, and its labels with it.",
		params: NAME,
		result: "{removed}",
	}),
} as const;
