// One daemon: chooses the parts, puts them together, and takes them apart again. The order of starting is the order of this file; stopping is its reverse.
//
//   home     made or repaired, refused when it cannot be used
//   lock     one daemon a home; whatever a dead one left is no obstacle from here on
//   log, config, sources, scheduler, intake, processes, supervisor
//   doors    socket and HTTP: calls are answered
//   runs     what ran before is found again, then claims begin
//   triggers what is due by time, and what changes
//   record   daemon.json

import { tmpdir } from "node:os";
import type { Checkup } from "../api/context.ts";
import { type Serving, serve } from "../api/serve.ts";
import { socketPath } from "../api/socket-path.ts";
import { localDisk } from "../host/disk.ts";
import { usersOf } from "../host/folder-users.ts";
import { localHost, systemClock } from "../host/local.ts";
import { watchLoop } from "../host/loop-watch.ts";
import { openProcesses } from "../host/processes/index.ts";
import { runProgram } from "../host/program.ts";
import { watchRepos } from "../host/repo-watch.ts";
import { readSchedule } from "../host/schedule.ts";
import { secret } from "../host/secret.ts";
import { watchPaths } from "../host/watch-paths.ts";
import { openSources } from "../sources/index.ts";
import { readKernelFile } from "../stores/sqlite/kernel-file.ts";
import { createSupervisor } from "../supervisor/index.ts";
import { createWork } from "../workspaces/index.ts";
import { waitForOrphans, workMark } from "../workspaces/orphans.ts";
import { createAgents } from "./agents.ts";
import { atOnce } from "./at-once.ts";
import { chaosStep } from "./chaos.ts";
import { openConfigFile } from "./config-file.ts";
import { completeInput } from "./config-layers.ts";
import { confirmStart } from "./confirm.ts";
import { logDepths } from "./depths.ts";
import { checkUp, diskProblem } from "./doctor.ts";
import { createElsewhere } from "./elsewhere.ts";
import { createGround, observeBusy, pick, remembered } from "./ground.ts";
import { prepareHome } from "./home.ts";
import { watchHome } from "./home-loss.ts";
import { createHooks } from "./hooks.ts";
import { openIntake } from "./intake.ts";
import { keepAwake } from "./keep-awake.ts";
import { keepRecord, takeLock } from "./lock.ts";
import { openLog } from "./log.ts";
import { type DaemonOptions, givenTo, remember, userName } from "./options.ts";
import { createVersions } from "./program-versions.ts";
import { openQueue } from "./queue.ts";
import { writeMissingBases } from "./repo-base.ts";
import { createRepos, engineOf, followRepoFiles, settingsOf } from "./repos.ts";
import { runSettings } from "./run-settings.ts";
import { SETTINGS } from "./settings.ts";
import { bringAlong, shareConfig } from "./shared-config.ts";
import { createStopping, type StopOptions } from "./stopping.ts";
import { hostNameOf, storeOf } from "./store.ts";
import { createTriggers } from "./triggers.ts";
import { offeredRepos } from "./url-repos.ts";
import { readVersion, webFolder } from "./version.ts";
import { startWatchdog } from "./watchdog.ts";

export type { DaemonOptions } from "./options.ts";

export type Daemon = {
	readonly pid: number;
	readonly port: number | null;
	/** Why there is no HTTP, or why it has another port than the one that is set. */
	readonly httpProblem: string | null;
	readonly socket: string;
	readonly home: string;
	/** Reads config.yml again. */
	reload(): Promise<void>;
	/** Drains and closes; a second call waits for the first. */
	stop(options?: StopOptions): Promise<void>;
	/** Resolves with the exit code when it has stopped, whatever the cause. */
	readonly stopped: Promise<number>;
};

/** The thread that watches the loop is made only then. */
const LOOP_WATCH_MS = 30_000;
/** No operation takes a tenth of this. */
const STUCK_MS = 10_000;

/** Throws a SluiceError when it cannot start; then nothing is left running. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
	const env = options.env ?? process.env;
	const clock = systemClock;
	const startedAt = clock.now();
	const version = readVersion();
	/** What must be undone, last first. */
	const undo: (() => unknown)[] = [];
	const unwind = async () => {
		for (const call of undo.splice(0).reverse()) await call();
	};

	try {
		const home = prepareHome(options.home);
		const lock = takeLock(home.lock, home.record);
		undo.push(() => lock.release());

		let secrets: () => readonly string[] = () => SETTINGS.secrets;
		const masked = [home.tokens.operator, home.tokens.viewer];
		const log = openLog({ path: home.log, clock, masked, secrets: () => secrets(), ...(options.echo ? { echo: options.echo } : {}) });
		undo.push(() => log.close());
		for (const line of home.repaired) log.warn(line);

		const file = openConfigFile({ path: home.config, env, ...givenTo(options, home), host: localHost, log });
		undo.push(() => file.close());
		secrets = () => file.settings().secrets;
		const store = storeOf(file.settings(), home);
		const config = store.shared ? shareConfig(file, { scheduler: () => scheduler }) : file;
		masked.push(...store.secrets);
		const hostName = hostNameOf(config.settings(), store);

		const sources = openSources({ host: localHost, clock, env: () => pick(env, ["*"]) });
		undo.push(() => sources.close());
		const { allowed, git, repo, placed, facts } = createGround({
			config,
			home,
			env,
			clock,
			list: (page) => scheduler.list(page),
			makers: (name, artifact) => work.makers(name, artifact),
			freshen: (name) => work.freshen(name),
		});
		await writeMissingBases({ config: file, git, log });
		/** Items come from the sources, all other facts from repositories and this machine. */
		const host = { ...facts, probe: async (keys: string[]) => ({ ...(await facts.probe(keys)), ...(await sources.probe(keys)) }) };

		const { scheduler, lease } = await openQueue({
			store,
			home,
			config: file,
			hostName,
			host,
			clock,
			log,
			undo,
			lost: () => supervisor.lookAgain(),
			overtaken: () => void stop({ runs: "stop", by: "lease" }).catch((error) => log.error("stopping failed", { error })),
			also: () => offer(),
		});
		const storeClock = { ...clock, now: () => scheduler.now() };
		let triggersIn: Pick<typeof SETTINGS, "cron" | "watches"> = config.settings();
		/** What the engine is told: also of what a repo's own file says. */
		const takeOver = async (from: Parameters<typeof engineOf>[0]) => {
			const next = engineOf(from);
			if (store.shared) await bringAlong(scheduler, next, log);
			else if (JSON.stringify(next) !== told) await scheduler.configure(completeInput(next, scheduler.config()));
			told = JSON.stringify(next);
			await offer(from);
			repoFiles.arm(from);
		};
		/** Alone it gets all jobs there are, and says itself what is wrong with their repos. */
		const offer = async (from: Parameters<typeof engineOf>[0] = config) =>
			void (store.shared && (await scheduler.offer(offeredRepos(from))));
		let told = JSON.stringify(engineOf(file));
		if (store.shared) await bringAlong(scheduler, engineOf(file), log);
		remember(home.path, options);
		const repoFiles = followRepoFiles({
			watchPaths,
			changed: atOnce(
				() => takeOver(file),
				(error) => log.warn("a repo's sluice.yml could not be taken over", { error }),
			),
		});
		undo.push(() => repoFiles.close());
		repoFiles.arm(config);
		config.onChange(async (next, before) => {
			await takeOver({ engine: () => next.config, settings: () => next.settings });
			await intake.follow(next.settings);
			triggersIn = next.settings;
			await triggers.reload();
			void writeMissingBases({ config: { settings: () => next.settings, set: file.set }, git, log });
			if (next.settings.port !== before.settings.port) log.warn("the new port counts from the next start", { port: next.settings.port });
		});

		const intake = openIntake({
			scheduler,
			sources,
			settings: config.settings,
			host,
			log,
			home: home.path,
			repos: () =>
				Object.fromEntries(Object.entries(config.engine().repos).map(([name, one]) => [name, { ...one, ...settingsOf(config, name) }])),
			git,
			env: () => ({ ...allowed(), ...pick(env, ["DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY"]) }),
		});
		undo.push(() => intake.stop());
		const triggers = createTriggers({
			scheduler,
			host,
			clock: storeClock,
			log,
			readSchedule,
			watchPaths,
			settings: () => triggersIn,
			expand: intake.expand,
			company: store.shared ? "others" : "alone",
		});
		undo.push(() => triggers.stop());

		const processes = await openProcesses({ home: home.path });
		undo.push(() => processes.close());

		const hooks = createHooks({ host, log, env: allowed, cwd: home.path });
		const awake = keepAwake({ log, wanted: () => config.settings().keep_awake === "while_running" && !supervisor.idle() });
		undo.push(() => awake.stop());
		const socket = socketPath(home.path, { tmp: tmpdir(), uid: process.getuid?.() ?? 0 });
		const step = chaosStep(env.SLUICE_CHAOS_STEP);
		await waitForOrphans({ processes, host, log, homeTag: home.tag });
		const work = createWork({
			scheduler,
			git,
			run: runProgram,
			disk: localDisk,
			host,
			clock,
			log,
			worktrees: home.worktrees,
			runs: home.runs,
			homeTag: home.tag,
			repo,
			repos: () => Object.keys(config.engine().repos),
			env: allowed,
			usersOf,
			isLive: (job) => supervisor.live().some((run) => run.job === job),
			retentionMs: () => config.settings().worktree_retention_ms,
			...(step ? { step } : {}),
		});
		const supervisor = createSupervisor({
			scheduler,
			processes,
			host,
			clock: storeClock,
			disk: localDisk,
			runs: home.runs,
			homeTag: home.tag,
			socket,
			home: home.path,
			hostName,
			secret,
			log,
			workspaces: work,
			settings: remembered(config.settings, runSettings(allowed, env)),
			versionOf: createVersions(),
			onDispatch: (started) => {
				awake.look();
				hooks.afterDispatch(config.settings().hooks.after_dispatch, started);
			},
			confirm: (job) => confirmStart(job, { sources, probe: host.probe, scheduler, log }),
			mayLaunch: options.claims === "off" ? () => false : lease.holds,
			...(store.shared
				? { company: "others" as const, onEnded: (run) => others.keepSoon(run), bringPrior: (run) => others.bring(run) }
				: {}),
			...(step ? { step } : {}),
		});
		const others = createElsewhere({
			outputs: scheduler.outputs,
			logs: supervisor.logs,
			orderOf: supervisor.orderOf,
			work,
			disk: localDisk,
			clock,
			host,
			log,
			runs: home.runs,
			name: hostName,
			isThere: async (name) => (await scheduler.hosts()).some((one) => one.name === name && one.state !== "gone"),
			keptBytes: () => config.settings().logs.shared_kb * 1024,
		});

		const stopping = createStopping({
			supervisor,
			leave: lease.leave,
			graceMs: () => config.settings().down_grace_ms,
			unwind,
			processes,
			homeTag: home.tag,
			host,
			log,
		});
		const { stop } = stopping;
		await triggers.arm();
		const doctor = (): Promise<Checkup[]> =>
			checkUp({
				home: options.home,
				config: () => config.problem(),
				settings: config.settings,
				jumps: watchdog.jumps,
				store: store.shown,
				database: () => ("url" in store.at ? store.at.url : null),
				socket,
				http: { port: serving?.port ?? null, problem: serving?.problem ?? null },
				env,
			});
		let serving: Serving | undefined;
		let reconciled = false;
		serving = await serve({
			context: {
				scheduler,
				supervisor,
				config,
				triggers,
				agents: createAgents({
					agents: () => config.settings().agents,
					accounts: () => config.settings().accounts,
					env: () => env,
					allowed: () => config.settings().env,
				}),
				repos: createRepos({ config, git, scheduler, clone: (name) => `${home.clones}/${name}`, worktrees: work.worktrees }),
				work: { ...work, lookForBusy: () => observeBusy(Object.keys(placed()), host.probe, scheduler) },
				...(store.shared ? { elsewhere: others.elsewhere } : {}),
				home: home.path,
				version,
				pid: process.pid,
				startedAt,
				doors: () => ({ port: serving?.port ?? null, problem: serving?.problem ?? null, ready: reconciled }),
				log,
				clock: storeClock,
				host,
				user: userName(env),
				down: ({ runs, graceMs, by }) => void stop({ runs, graceMs, by }).catch((error) => log.error("stopping failed", { error })),
				doctor,
				kernelFile: readKernelFile,
				disk: () => diskProblem(home.path),
				intake,
			},
			socketPath: socket,
			port: config.settings().port,
			taken: options.port === undefined ? "next" : "refuse",
			tokens: home.tokens,
			web: webFolder(),
		});
		const { port, problem: httpProblem } = serving;
		undo.push(serving.close);

		const loop = watchLoop({ path: home.log, stuckMs: STUCK_MS, lookMs: STUCK_MS / 4, startMs: LOOP_WATCH_MS });
		const watchdog = startWatchdog({ clock, host, log, scheduler, loop });
		undo.push(() => watchdog.stop());
		undo.push(logDepths({ scheduler, host, log }));
		undo.push(
			watchHome(
				{ home: home.path, lock: home.lock, socket },
				host,
				(loss) => void stopping.lost(loss).catch((error) => log.error("stopping failed", { error })),
			),
		);
		lease.start();

		const found = await supervisor.start();
		await intake.start();
		reconciled = true;
		if (store.shared) {
			undo.push(scheduler.outputs.answer(others.answer));
			others.makeUp().catch((error) => log.warn("earlier runs could not be kept for other hosts", { error }));
		}
		work.start();
		undo.push(() => {
			const mark = workMark(home.tag);
			processes.signalAll(mark, processes.sweep([mark]).get(mark) ?? [], "SIGTERM");
			return work.stop();
		});
		const looking = atOnce(
			() => scheduler.tick(),
			(error) => log.warn("a look at what has changed failed", { error }),
		);
		const watching = watchRepos({
			host,
			repos: placed,
			files: host.files,
			changed: (name) => {
				host.stir(name);
				work.stir(name);
				looking();
			},
		});
		watching.look();
		undo.push(() => watching.close());
		undo.push(keepRecord(home.record, { pid: process.pid, version, port, started_at: new Date(startedAt).toISOString() }));
		config.follow();
		await triggers.reload();
		stopping.ready();
		if (store.shared)
			log.info("this host shares a store", { host: hostName, labels: config.settings().host.labels.join(","), store: store.shown });
		log.info("the daemon is up", { pid: process.pid, version, port, ...found });
		return { pid: process.pid, port, httpProblem, socket, home: home.path, reload: () => config.reload(), stop, stopped: stopping.stopped };
	} catch (error) {
		await unwind();
		throw error;
	}
}
