// Sixth stage: socket and HTTP. Calls are answered from here on, while runs of an earlier daemon have not been found again yet.

import type { Checkup, Context } from "../../api/context.ts";
import type { AuditRecord } from "../../api/server/audit.ts";
import { serve } from "../../api/server/serve.ts";
import { localHost } from "../../host/local.ts";
import { watchLoop } from "../../host/loop-watch.ts";
import { forCheckedCalls } from "../../open.ts";
import { readKernelFile } from "../../stores/sqlite/kernel-file.ts";
import { createAgents } from "../agents.ts";
import { userName } from "../config/options.ts";
import { logDepths } from "../depths.ts";
import { observeBusy } from "../repos/environment.ts";
import { createRepos, repoChecks } from "../repos/repos.ts";
import { checkUp, diskProblem } from "../service/doctor.ts";
import { watchHome } from "../service/home-loss.ts";
import { createWatchdog, type Watchdog } from "../service/watchdog.ts";
import { type AuditFile, openAudit } from "../sharing/audit-file.ts";
import { auditOfFleet } from "../sharing/audit-of-fleet.ts";
import { sharingChecks } from "../sharing/checks.ts";
import { createSharing } from "../sharing/listen.ts";
import { createStopping } from "../stopping.ts";
import { webFolder } from "../version.ts";
import { webhookChecks } from "../webhooks/checks.ts";
import type { ConfigStage } from "./config.ts";
import type { HomeStage } from "./home.ts";
import type { QueueStage } from "./queue.ts";
import type { SupervisorStage } from "./supervisor.ts";
import type { Undo } from "./undo.ts";
import type { WorkStage } from "./work.ts";

export type Stages = { home: HomeStage; config: ConfigStage; queue: QueueStage; work: WorkStage; runs: SupervisorStage };
export type DoorStage = Awaited<ReturnType<typeof openDoors>>;

/** When the thread that watches the event loop is created: not for short-lived daemons. */
const LOOP_WATCH_MS = 30_000;
/** Ten times longer than any operation takes. */
const STUCK_MS = 10_000;

export async function openDoors(stages: Stages, undo: Undo) {
	const { options, clock, home, log } = stages.home;
	const { scheduler, lease, config } = stages.queue;
	const { triggers, processes } = stages.work;
	const { supervisor, socket } = stages.runs;
	const stopping = createStopping({
		supervisor,
		leave: lease.leave,
		graceMs: () => config.settings().down_grace_ms,
		unwind: undo.unwind,
		processes,
		homeTag: home.tag,
		host: localHost,
		log,
	});
	await triggers.arm(config.settings());
	const endpoints: ReturnType<Context["endpoints"]> = { port: null, problem: null, ready: false };
	const sharing = createSharing({ home: home.path, settings: config.settings().listen, clock, host: localHost, log });
	const audit = openAudit({ home: home.path, hostName: stages.config.hostName, clock: stages.queue.clock, host: localHost, log });
	undo.push(audit.close);
	const watchdog = createWatchdog({ clock, host: localHost, log, scheduler });
	const serving = await serve({
		context: {
			...contextOf(stages),
			endpoints: () => ({ ...endpoints, shared: sharing.endpoint() }),
			audit: auditOf(stages, audit),
			down: (how) => void stopping.stop(how).catch((error) => log.error("stopping failed", { error })),
			doctor: () => checkAll(stages, watchdog, { endpoints, sharing }),
		},
		socketPath: socket,
		port: config.settings().port,
		taken: options.port === undefined ? "next" : "refuse",
		tokens: home.tokens,
		web: webFolder(),
		names: sharing.names,
		proxy: sharing.proxy,
	});
	undo.push(serving.close);
	undo.push(sharing.close);
	await sharing.start(serving);
	stages.work.listening.connect(sharing.follow);
	endpoints.port = serving.port;
	endpoints.problem = serving.problem;

	watchdog.start(watchLoop({ path: home.log, stuckMs: STUCK_MS, lookMs: STUCK_MS / 4, startMs: LOOP_WATCH_MS }));
	undo.push(() => watchdog.stop());
	undo.push(logDepths({ scheduler, host: localHost, log }));
	undo.push(
		watchHome(
			{ home: home.path, lock: home.lock, socket },
			localHost,
			(loss) => void stopping.lost(loss).catch((error) => log.error("stopping failed", { error })),
		),
	);
	/** Tells callers that runs of an earlier daemon have been found again. */
	const ready = () => {
		endpoints.ready = true;
	};
	return { serving, stopping, audit, ready };
}

/** Of this host; where hosts share a store, of all of them. */
function auditOf({ config: { store, hostName }, queue: { scheduler } }: Stages, own: AuditFile): AuditRecord {
	if (store.shared) return auditOfFleet({ own, name: hostName, outputs: scheduler.outputs, hosts: () => scheduler.hosts() });
	return { note: own.note, read: async (filter) => ({ entries: own.read(filter), missing: [] }) };
}

/** What the methods act on: the parts of the earlier stages. */
function contextOf({ home: { env, home, log, version, startedAt }, config: { git }, queue, work: at, runs }: Stages) {
	const { scheduler, config } = queue;
	const { host, work, placed } = at;
	return {
		scheduler: forCheckedCalls(scheduler),
		supervisor: runs.supervisor,
		config,
		triggers: at.triggers,
		webhooks: at.webhooks,
		agents: createAgents(config.settings, env),
		repos: createRepos({ config, git, scheduler, clone: (name) => `${home.clones}/${name}`, worktrees: work.worktrees }),
		work: { ...work, lookForBusy: () => observeBusy(Object.keys(placed()), host.probe, scheduler) },
		...(runs.others ? { elsewhere: runs.others.elsewhere } : {}),
		home: home.path,
		version,
		startedAt,
		pid: process.pid,
		log,
		clock: queue.clock,
		host,
		user: userName(env),
		kernelFile: readKernelFile,
		disk: () => diskProblem(home.path),
		intake: at.intake,
	};
}

type Doors = { endpoints: ReturnType<Context["endpoints"]>; sharing: ReturnType<typeof createSharing> };

function checkAll(stages: Stages, watchdog: Watchdog, { endpoints: { port, problem }, sharing }: Doors): Promise<Checkup[]> {
	const { options, env } = stages.home;
	const { store } = stages.config;
	const { config } = stages.queue;
	return checkUp({
		home: options.home,
		config: () => config.problem(),
		settings: config.settings,
		jumps: watchdog.jumps,
		store: store.shown,
		isOpen: true,
		database: () => ("url" in store.at ? store.at.url : null),
		socket: stages.runs.socket,
		repos: () => repoChecks(config),
		webhooks: async () => webhookChecks(await stages.work.webhooks.list()),
		sharing: async () => {
			const people = Object.keys(await stages.queue.scheduler.people.read()).length;
			return sharingChecks({ endpoint: sharing.endpoint(), until: sharing.certificateEnd(), people, now: stages.queue.clock.now() });
		},
		http: { port, problem },
		env,
	});
}
