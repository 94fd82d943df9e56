// What the page shows of its connection, with a fake daemon that gives prepared answers.

import { expect, test } from "vitest";
import { Jobs } from "../state/jobs.ts";
import { Refused, type RpcClient } from "./client.ts";
import { type LinkPhase, Sync } from "./sync.ts";

const lost = () => Promise.reject(new Refused("offline", "the daemon cannot be reached"));

async function phases(daemon: { lists: boolean }, tries: number): Promise<{ seen: LinkPhase[]; rows: number }> {
	const jobs = new Jobs();
	const seen: LinkPhase[] = [];
	let left = tries;
	const door: RpcClient = {
		call: (async () => (daemon.lists ? { jobs: [], seq: 7, total: 0 } : lost())) as unknown as RpcClient["call"],
		stream: lost,
		poll: lost,
		signOut: async () => {},
	};
	await new Promise<void>((resolve) => {
		const sync: Sync = new Sync({
			door,
			stream: door.stream,
			jobs,
			after(_, call) {
				if (left-- === 0) {
					sync.stop();
					resolve();
				}
				let wanted = true;
				void Promise.resolve().then(() => wanted && call());
				return () => {
					wanted = false;
				};
			},
			monotonic: () => 0,
			progressed: () => {},
			changed: () => {},
			linked: ({ phase }) => {
				if (seen.at(-1) !== phase) seen.push(phase);
			},
		});
		void sync.run();
	});
	return { seen, rows: jobs.rows.size };
}

test("cut off between the first list and the first event: what is shown is stale, not loading", async () => {
	expect((await phases({ lists: true }, 5)).seen).toEqual(["loading", "stale"]);
});

test("never reached: nothing can be stale", async () => {
	expect((await phases({ lists: false }, 5)).seen).toEqual(["loading"]);
});
