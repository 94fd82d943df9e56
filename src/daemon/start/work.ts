// Fourth stage: what brings work (sources, recipes, triggers) and where it is done (processes, repos, worktrees). Nothing is started yet.

import type { Host } from "../../contracts/host.ts";
import { localDisk } from "../../host/disk.ts";
import { usersOf } from "../../host/folder-users.ts";
import { httpPost } from "../../host/http-post.ts";
import { chance, localHost } from "../../host/local.ts";
import { openProcesses } from "../../host/processes/index.ts";
import { runProgram } from "../../host/program.ts";
import { readSchedule } from "../../host/schedule.ts";
import { secret } from "../../host/secret.ts";
import { watchPaths } from "../../host/watch-paths.ts";
import { createWork } from "../../workspaces/index.ts";
import { waitForOrphans } from "../../workspaces/orphans.ts";
import { chaosStep } from "../chaos.ts";
import type { ListenSettings } from "../config/listen.ts";
import { leaseFileOf } from "../fleet/lease.ts";
import { openIntake } from "../intake.ts";
import { writeMissingBases } from "../repos/base.ts";
import { createFacts, createRepoFolders, pick } from "../repos/environment.ts";
import { repoRecipes, settingsOf } from "../repos/repos.ts";
import { createReveal } from "../reveal.ts";
import { createTriggers, type Triggers } from "../triggers.ts";
import { DaemonWebhooks } from "../webhooks/index.ts";
import type { ConfigStage } from "./config.ts";
import type { HomeStage } from "./home.ts";
import { createLink } from "./link.ts";
import type { QueueStage } from "./queue.ts";
import type { Undo } from "./undo.ts";

type Listening = ReturnType<typeof createLink<[listen: ListenSettings], Promise<void>>>;
export type WorkStage = Awaited<ReturnType<typeof openWork>>;

export async function openWork(base: HomeStage, stage: ConfigStage, queue: QueueStage, undo: Undo) {
	const { env, clock, home, log } = base;
	const { allowed, git } = stage;
	const { scheduler, sources, config } = queue;
	const intake = openIntake({
		scheduler,
		sources,
		settings: config.settings,
		host: localHost,
		log,
		home: home.path,
		repos: () =>
			Object.fromEntries(Object.entries(config.engine().repos).map(([name, one]) => [name, { ...one, ...settingsOf(config, name) }])),
		recipesOf: (name) => repoRecipes(config, name),
		git,
		env: () => ({ ...allowed(), ...pick(env, ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"]) }),
	});
	undo.push(() => intake.stop());
	const triggers = createTriggers({
		scheduler,
		host: localHost,
		clock: queue.clock,
		log,
		readSchedule,
		watchPaths,
		expand: intake.expand,
		company: stage.store.shared ? "others" : "alone",
	});
	undo.push(() => triggers.stop());
	const webhooks = await openWebhooks(base, stage, queue);
	undo.push(() => webhooks.stop());
	/** Takes over how the daemon is shared: connected by the doors. */
	const listening: Listening = createLink(async (_listen: ListenSettings) => {});
	followConfig(base, stage, queue, { intake, triggers, webhooks, listening });

	const processes = await openProcesses({ home: home.path, ...(stage.store.shared ? { lease: leaseFileOf(home) } : {}) });
	undo.push(() => processes.close());
	const step = chaosStep(env.SLUICE_CHAOS_STEP);
	await waitForOrphans({ processes, host: localHost, log, homeTag: home.tag });
	const { repo, placed } = createRepoFolders(config, home);
	/** Whether a job has a run on this host: connected by the supervisor. */
	const isLive = createLink((_job: number) => false);
	const work = createWork({
		scheduler,
		git,
		run: runProgram,
		disk: localDisk,
		host: localHost,
		clock,
		log,
		worktrees: home.worktrees,
		runs: home.runs,
		homeTag: home.tag,
		repo,
		repos: () => Object.keys(config.engine().repos),
		env: allowed,
		usersOf,
		isLive: isLive.call,
		retentionMs: () => config.settings().worktree_retention_ms,
		...(step ? { step } : {}),
	});
	const facts = createFacts({ config, home, clock, allowed, git, placed, scheduler, work, shared: stage.store.shared });
	/** Facts of items come from the sources, all others from repositories and this machine. */
	const probe: Host["probe"] = async (keys) => ({ ...(await facts.probe(keys)), ...(await sources.probe(keys)) });
	queue.answerProbes(probe);
	/** This machine, with the facts of items, repos and files. */
	const host = { ...facts, probe };
	return { host, intake, triggers, webhooks, listening, processes, work, placed, isLive, step };
}

/** Webhooks of this host's settings; nothing is sent before the daemon is up. */
async function openWebhooks(
	{ env, clock, home, log, version }: HomeStage,
	{ store }: ConfigStage,
	{ scheduler, config }: QueueStage,
): Promise<DaemonWebhooks> {
	const webhooks = new DaemonWebhooks({
		scheduler,
		host: localHost,
		clock,
		chance,
		unique: () => secret(9),
		log,
		request: { post: httpPost, reveal: createReveal(env), now: clock.now, version },
		queue: () => scheduler.identify(home.path),
		secretNames: () => config.settings().secrets,
		company: store.shared ? "others" : "alone",
	});
	await webhooks.reload(config.settings().webhooks);
	return webhooks;
}

/** Passes changed settings to the parts that keep some of them. Rejects if one of them refuses: then the settings before stay in force. */
function followConfig(
	{ log }: HomeStage,
	{ file, git }: ConfigStage,
	queue: QueueStage,
	parts: { intake: ReturnType<typeof openIntake>; triggers: Triggers; webhooks: DaemonWebhooks; listening: Listening },
): void {
	queue.config.onChange(async (next, before) => {
		await queue.settings.takeOver({ engine: () => next.config, settings: () => next.settings });
		await parts.intake.follow(next.settings);
		await parts.triggers.reload(next.settings);
		await parts.listening.call(next.settings.listen);
		await parts.webhooks.reload(next.settings.webhooks);
		void writeMissingBases({ config: { settings: () => next.settings, set: file.set }, git, log });
		if (next.settings.port !== before.settings.port) log.warn("the new port counts from the next start", { port: next.settings.port });
	});
}
