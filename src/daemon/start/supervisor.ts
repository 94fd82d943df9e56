// Fifth stage: the supervisor, and what follows its runs: hooks, the inhibitor of sleep, and what other hosts may see of them. No run is started yet.

import { existsSync } from "node:fs";
import { localDisk } from "../../host/disk.ts";
import { systemTimezone } from "../../host/local.ts";
import { secret } from "../../host/secret.ts";
import { createSupervisor } from "../../supervisor/index.ts";
import { createKeptRuns, fetchPriorRun } from "../fleet/kept-runs.ts";
import { answerRequest, createRemoteRuns, type RunQuestion } from "../fleet/remote-runs.ts";
import { createVersions } from "../program-versions.ts";
import { confirmStart } from "../repos/confirm.ts";
import { remembered } from "../repos/environment.ts";
import { createReveal } from "../reveal.ts";
import { createHooks } from "../service/hooks.ts";
import { keepAwake } from "../service/keep-awake.ts";
import { ownProgram } from "../service/own-command.ts";
import { placeSocket } from "../service/socket-folder.ts";
import type { ConfigStage } from "./config.ts";
import type { HomeStage } from "./home.ts";
import { createLink } from "./link.ts";
import type { QueueStage } from "./queue.ts";
import type { Undo } from "./undo.ts";
import type { WorkStage } from "./work.ts";

export type SupervisorStage = ReturnType<typeof openSupervisor>;
type Run = { job: number; attempt: number };

export function openSupervisor(base: HomeStage, stage: ConfigStage, queue: QueueStage, at: WorkStage, undo: Undo) {
	const { options, env, home, log } = base;
	const { store, hostName, allowed } = stage;
	const { scheduler, config, lease } = queue;
	const { host, work, processes, step } = at;
	const { path: socket, ...place } = placeSocket(home.path, env);
	const dispatched = createLink((_started: { job: number; repo: string | null }[]) => {});
	const ended = createLink((_run: Run) => {});
	const [reveal, program] = [createReveal(env), ownProgram()];
	const sluice = existsSync(program) ? [process.execPath, program] : null;
	const kept = { outputs: scheduler.outputs, disk: localDisk, log, runs: home.runs, name: hostName };
	const supervisor = createSupervisor({
		scheduler,
		processes,
		host,
		clock: queue.clock,
		disk: localDisk,
		runs: home.runs,
		homeTag: home.tag,
		socket,
		home: home.path,
		hostName,
		secret,
		log,
		workspaces: work,
		settings: remembered(config.settings, (settings) => ({ ...settings, env: allowed(), reveal, sluice, timezone: systemTimezone() })),
		versionOf: createVersions(),
		onDispatch: dispatched.call,
		confirm: (job) => confirmStart(job, { sources: queue.sources, probe: host.probe, scheduler, log }),
		mayLaunch: options.claims === "off" ? () => false : lease.holds,
		...(store.shared ? { company: "others" as const, onEnded: ended.call, bringPrior: (run: Run) => fetchPriorRun(kept, run) } : {}),
		...(step ? { step } : {}),
	});
	at.isLive.connect((job) => supervisor.live().some((run) => run.job === job));
	const hooks = createHooks({ host, log, env: allowed, cwd: home.path });
	const awake = keepAwake({ log, wanted: () => config.settings().keep_awake === "while_running" && !supervisor.idle() });
	undo.push(() => awake.stop());
	undo.push(() => place.leave(supervisor.idle() ? "none" : "some"));
	dispatched.connect((started) => {
		awake.look();
		hooks.afterDispatch(config.settings().hooks.after_dispatch, started);
	});
	if (!store.shared) return { supervisor, socket, others: null };

	const { clock } = base;
	const keeping = createKeptRuns({ ...kept, supervisor, work, clock, host, keptBytes: () => config.settings().logs.shared_kb * 1024 });
	ended.connect(keeping.keepSoon);
	const isThere = async (name: string) => (await scheduler.hosts()).some((one) => one.name === name && one.state !== "gone");
	const elsewhere = createRemoteRuns({ outputs: scheduler.outputs, clock, name: hostName, isThere });
	const answer = (question: RunQuestion) => answerRequest({ supervisor, work, clock, host }, question);
	/** `others`: runs of hosts that share the store. `backfill` stores for them what an earlier daemon of this host could not store. */
	return { supervisor, socket, others: { elsewhere, answer, backfill: keeping.backfill } };
}
