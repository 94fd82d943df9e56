// Questions that change nothing: plan, positions, ledgers, a single job, and ids that nobody has.

import { SluiceError } from "../../src/core/errors.ts";
import type { Drive } from "../drive.ts";
import { checkFleet } from "../fleet.ts";
import { positionOf } from "../model/add.ts";
import { agree, agreeSame } from "../model/agree.ts";
import { checkPlan } from "../model/claim.ts";
import { named, waiting } from "../model/state.ts";
import type { Op } from "../operation.ts";

export async function look(drive: Drive, op: Op & { kind: "look" }, via: number): Promise<void> {
	const { scheduler } = await drive.engine(via);
	const { state } = drive;
	for (const name of new Set(state.jobs.flatMap((job) => job.name ?? [])))
		agreeSame(await scheduler.find(name), named(state, name)?.id, `the job that ${name} means`);
	switch (op.what) {
		case "plan":
			return checkPlan(state, await scheduler.plan(), undefined);
		case "positions": {
			const { jobs: view } = await drive.glance();
			for (const job of waiting(state)) {
				const { position } = await scheduler.why(job.id);
				if (job.ready_at === undefined || view.get(job.id)?.wait_reason !== undefined) continue;
				agreeSame(position, positionOf(state, job, { job: (id) => view.get(id) }), `why ${job.id}: position`);
			}
			return;
		}
		case "fleet":
			return checkFleet(drive);
		case "ledgers":
			await scheduler.ledgers();
			return;
		case "status":
			await scheduler.status();
			return;
		case "show": {
			const job = state.jobs.at(-1);
			if (job === undefined) return;
			const shown = (await drive.glance()).jobs.get(job.id)?.status;
			if (job.kind !== "kernel") agreeSame((await scheduler.show(job.id)).status, shown, `show ${job.id}: status, as shown and as listed`);
			const history = await scheduler.history(job.id);
			agree(
				history.every((event) => event.job === job.id),
				`history of ${job.id}: has events of others`,
			);
			// Jobs of a staged manifest have one event for all of them, which is nobody's own.
			agree(history.length > 0 || drive.isStaged(job.id), `history of ${job.id}: no events`);
			return;
		}
		case "missing":
			for (const question of [() => scheduler.show(987_654_321), () => scheduler.why(987_654_321)]) {
				const error = await question().then(
					() => undefined,
					(raw: unknown) => raw,
				);
				agree(error instanceof SluiceError && error.code === "not_found", `a job that does not exist: ${String(error)}`);
			}
	}
}
