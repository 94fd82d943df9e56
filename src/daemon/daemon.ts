// One daemon: chooses its parts, connects them, and takes them down again. This file is in the order of starting; stopping is its reverse.
//
//   home     created or repaired, refused when it cannot be used
//   lock     one daemon for each home; from here on, leftovers of a dead daemon are no obstacle
//   log, config, sources, scheduler, intake, processes, supervisor
//   api      socket and HTTP: calls are answered
//   runs     runs of an earlier daemon are found again, then claims begin; then triggers (cron slots, file watches) and daemon.json

import type { Checkup } from "../api/context.ts";
import { type Serving, serve } from "../api/server/serve.ts";
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
import { chaosStep } from "./chaos.ts";
import { coalesce } from "./coalesce.ts";
import { openConfigFile } from "./config/file.ts";
import { completeInput } from "./config/layers.ts";
import { type DaemonOptions, givenTo, remember, userName } from "./config/options.ts";
import { runSettings } from "./config/runs.ts";
import { SETTINGS } from "./config/settings.ts";
import { bringAlong, shareConfig } from "./config/shared.ts";
import { logDepths } from "./depths.ts";
import { openQueue } from "./fleet/queue.ts";
import { createRemoteRuns } from "./fleet/remote-runs.ts";
import { hostNameOf, storeOf } from "./fleet/store.ts";
import { openIntake } from "./intake.ts";
import { createVersions } from "./program-versions.ts";
import { writeMissingBases } from "./repos/base.ts";
import { offeredRepos } from "./repos/by-url.ts";
import { confirmStart } from "./repos/confirm.ts";
import { createRepoEnvironment, observeBusy, pick, remembered } from "./repos/environment.ts";
import { createRepos, engineOf, followRepoFiles, repoChecks, repoRecipes, settingsOf } from "./repos/repos.ts";
import { checkUp, diskProblem } from "./service/doctor.ts";
import { prepareHome } from "./service/home.ts";
import { watchHome } from "./service/home-loss.ts";
import { createHooks } from "./service/hooks.ts";
import { keepAwake } from "./service/keep-awake.ts";
import { keepRecord, takeLock } from "./service/lock.ts";
import { openLog } from "./service/log.ts";
import { placeSocket } from "./service/socket-folder.ts";
import { startWatchdog } from "./service/watchdog.ts";
import { createStopping, type StopOptions } from "./stopping.ts";
import { createTriggers } from "./triggers.ts";
import { readVersion, webFolder } from "./version.ts";

export type { DaemonOptions } from "./config/options.ts";

export type Daemon = {
	readonly pid: number;
	readonly port: number | null;
	/** Why there is no HTTP, or why it uses another port than the configured one. */
	readonly httpProblem: string | null;
	readonly socket: string;
	readonly home: string;
	/** Makes a code for a link that signs the page in, like `session.code`. */
	readonly signInCode: Serving["signInCode"];
	/** Reads config.yml again. */
	reload(): Promise<void>;
	/** Drains and closes; a second call waits for the first. */
	stop(options?: StopOptions): Promise<void>;
	/** Resolves with the exit code when the daemon has stopped, for whatever reason. */
	readonly stopped: Promise<number>;
};

/** When the thread that watches the event loop is created: not for short-lived daemons. */
const LOOP_WATCH_MS = 30_000;
/** Ten times longer than any operation takes. */
const STUCK_MS = 10_000;

/** Throws a SluiceError when the daemon cannot start; then nothing is left running. */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
	const env = options.env ?? process.env;
	const clock = systemClock;
	const startedAt = clock.now();
	const version = readVersion();
	/** Actions that undo the start, run in reverse order. */
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
		const { allowed, git, repo, placed, facts } = createRepoEnvironment({
			config,
			home,
			env,
			clock,
			list: (page) => scheduler.list(page),
			makers: (name, artifact) => work.makers(name, artifact),
			freshen: (name) => work.freshen(name),
		});
		await writeMissingBases({ config: file, git, log });
		/** Facts of items come from the sources, all others from repositories and this machine. */
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
			loss: options.loss ?? "refuse",
		});
		const storeClock = { ...clock, now: () => scheduler.now() };
		let triggersIn: Pick<typeof SETTINGS, "cron" | "watches"> = config.settings();
		/** Passes the settings to the scheduler, including those of the repos' own files. */
		const takeOver = async (from: Parameters<typeof engineOf>[0]) => {
			const next = engineOf(from);
			if (store.shared) await bringAlong(scheduler, next, log);
			else if (JSON.stringify(next) !== told) await scheduler.configure(completeInput(next, scheduler.config()));
			told = JSON.stringify(next);
			await offer(from);
			repoFiles.arm(from);
		};
		/**
		 * Reports which repos this host can work in. Not needed for a store of its own: the only host gets all jobs and itself reports what is wrong with
		 * their repos.
		 */
		const offer = async (from: Parameters<typeof engineOf>[0] = config) =>
			void (store.shared && (await scheduler.offer(offeredRepos(from))));
		let told = JSON.stringify(engineOf(file));
		if (store.shared) await bringAlong(scheduler, engineOf(file), log);
		remember(home.path, options);
		const repoFiles = followRepoFiles({
			watchPaths,
			changed: coalesce(
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
			recipesOf: (name) => repoRecipes(config, name),
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
		const { path: socket, ...place } = placeSocket(home.path, env);
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
		undo.push(() => place.leave(supervisor.idle() ? "none" : "some"));
		const others = createRemoteRuns({
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
				isOpen: true,
				database: () => ("url" in store.at ? store.at.url : null),
				socket,
				repos: () => repoChecks(config),
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
				endpoints: () => ({ port: serving?.port ?? null, problem: serving?.problem ?? null, ready: reconciled }),
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
		const { port, problem: httpProblem, signInCode } = serving;
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
		const looking = coalesce(
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
		const { pid } = process;
		return { pid, port, httpProblem, socket, home: home.path, signInCode, reload: () => config.reload(), stop, stopped: stopping.stopped };
	} catch (error) {
		await unwind();
		throw error;
	}
}
