// The leader is lost (killed, stopped, or cut off from the database): how long until the next job starts anywhere, with few and with a million jobs queued.

import { openTcpProxy } from "../../../test/make/stores/tcp-proxy.ts";
import { fill } from "../../backlog.ts";
import { payload } from "../../engine.ts";
import { openFleet } from "../../fleet/open.ts";
import { type Child, startChild } from "../../fleet/processes.ts";
import { dropDatabase, makeDatabase, query } from "../../postgres.ts";
import { atMost, type Bench, type Measure, type Row } from "../../row.ts";
import { type Sample, sample } from "../../statistics.ts";

const LOSSES = { killed: 2_000, stopped: 15_000, "cut off": 15_000 } as const;
type Loss = keyof typeof LOSSES;

export const pgTakeover: Row = {
	name: "pg-takeover",
	title: "a leader is lost: time until the next start anywhere",
	async run(bench) {
		const measures: Measure[] = [];
		for (const queued of [1000, bench.size(1_000_000, 20_000)]) {
			const found = await measureLosses(bench, queued);
			for (const loss of Object.keys(LOSSES) as Loss[])
				measures.push({
					what: `fleet: leader ${loss} → next start, ${queued.toLocaleString("en")} queued`,
					bar: atMost(LOSSES[loss]),
					unit: "ms",
					measured: found[loss],
				});
		}
		return measures;
	},
};

async function measureLosses(bench: Bench, queued: number): Promise<Record<Loss, Sample>> {
	const url = await makeDatabase("takeover");
	const found: Record<Loss, number[]> = { killed: [], stopped: [], "cut off": [] };
	try {
		const engine = await openFleet(url);
		await fill(engine, queued, bench.progress);
		await engine.close();
		for (const statement of ["VACUUM (ANALYZE)", "CHECKPOINT"]) await query(url, statement);
		for (let round = 1; round <= bench.rounds; round++)
			for (const loss of Object.keys(LOSSES) as Loss[]) {
				found[loss].push(await lose(url, loss));
				bench.progress(`${queued} queued, ${loss}, round ${round}: ${found[loss].at(-1)?.toFixed(0)} ms`);
			}
	} finally {
		await dropDatabase(url);
	}
	return { killed: sample(found.killed), stopped: sample(found.stopped), "cut off": sample(found["cut off"]) };
}

/** Milliseconds from the loss of the leader until another process, which worked for it, starts its next job. */
async function lose(url: string, loss: Loss): Promise<number> {
	const network = await openTcpProxy(Number(new URL(url).port));
	const through = new URL(url);
	through.port = String(network.port);
	const leader = startChild("fleet-leader");
	try {
		await leader.ask("open", { url: through.href });
		const member = await openFleet(url, { name: "member" });
		try {
			if (await member.leads()) throw new Error("the member leads, not the process that is to be lost");
			return await nextStart(member, () => cause(loss, leader, network));
		} finally {
			await member.close();
		}
	} finally {
		leader.signal("SIGKILL");
		await leader.end();
		network.close();
	}
}

function cause(loss: Loss, leader: Child, network: { freeze(): void }): void {
	if (loss === "cut off") network.freeze();
	else leader.signal(loss === "killed" ? "SIGKILL" : "SIGSTOP");
}

/** A job of this member runs when the leader is lost and ends right after: the next one can only start under another leader. */
function nextStart(member: Awaited<ReturnType<typeof openFleet>>, loseLeader: () => void): Promise<number> {
	return new Promise((resolve, reject) => {
		let lostAt: number | undefined;
		const working = member.work("default", async () => {
			if (lostAt === undefined) {
				loseLeader();
				lostAt = performance.now();
				return;
			}
			const took = performance.now() - lostAt;
			working.stop().then(() => resolve(took), reject);
		});
		// One more than there were: as many are queued in every round.
		member.add(payload(0)).catch(reject);
	});
}
