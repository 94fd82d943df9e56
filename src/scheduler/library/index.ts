// Implements the contract `Scheduler`: every method as operations and reads of a core, grouped by what it is about, and the loop behind them.

import type { Clock, Host } from "../../contracts/host.ts";
import type { OpenOptions, Scheduler } from "../../contracts/scheduler.ts";
import type { Store } from "../../contracts/store.ts";
import * as check from "../../core/input/check.ts";
import { copy } from "../../core/text/copy.ts";
import { PIECE } from "../apply/apply.ts";
import { apply } from "../apply/run.ts";
import { kernelMethods } from "../kernel/methods.ts";
import { type Core, engineCore } from "../operations/core.ts";
import { Engine } from "../transaction/group-commit.ts";
import { answer } from "../transaction/pending.ts";
import type { HighestIds } from "../transaction/restored.ts";
import { createFactProber } from "../waiting/fact-probes.ts";
import { accountMethods, ledgerMethods } from "./accounts.ts";
import { createAdding, promised, triggerMethods } from "./add.ts";
import { withValidatedArguments } from "./arguments.ts";
import { claimMethods, holdMethods } from "./claims.ts";
import { createFleet } from "./hosts.ts";
import { checkAct } from "./input.ts";
import { cancelMethods, jobMethods } from "./jobs.ts";
import { createLoop } from "./loop.ts";
import { outputMethods, webhookMethods } from "./outputs.ts";
import type { LibraryParts } from "./parts.ts";
import { pollForOthers } from "./polling.ts";
import { createQuestions } from "./questions.ts";
import { runMethods } from "./runs.ts";
import { createSettings, type LibrarySettings } from "./settings.ts";
import { viewMethods } from "./views.ts";
import { createWaker } from "./waker.ts";
import { startWorker } from "./worker.ts";

/** `wrap`: puts something between the library and its core, for tests. */
export type SchedulerDeps = {
	store: Store;
	clock: Clock;
	host: Host;
	chance: () => number;
	seen?: HighestIds;
	wrap?: ((core: Core) => Core) | undefined;
};
export type LibraryOptions = Omit<OpenOptions, "path" | "url" | "clock" | "host" | "chance" | "fault">;
/** `settings`: those that the transactions of the core begin with (`settings.in`). `isStale`: as of `Store`. */
type LibraryDeps = { core: Core; settings: LibrarySettings; clock: Clock; host: Host; isStale?: (() => boolean) | undefined };

/** A scheduler whose engine is in this process, on this store. */
export async function createScheduler(
	options: LibraryOptions,
	{ wrap = (core) => core, store, ...parts }: SchedulerDeps,
): Promise<Scheduler> {
	const settings = createSettings(options);
	const engine = new Engine({ ...parts, store, by: options.by ?? "library", config: settings.in });
	return createLibrary(options, { ...parts, core: wrap(engineCore(engine)), settings, isStale: store.isStale?.bind(store) });
}

/** A scheduler on any core. */
export async function createLibrary(options: LibraryOptions, parts: LibraryDeps): Promise<Scheduler> {
	const library = await openLibrary(options, parts);
	return withValidatedArguments(methodsOf(library, options));
}

/** The parts that methods share: opened, with this host joined and the loop running. */
type Library = Awaited<ReturnType<typeof openLibrary>>;

async function openLibrary(options: LibraryOptions, { core, settings, clock, host, isStale }: LibraryDeps) {
	const { name: hostName = "local", labels = [], repos = null, home } = options.join ?? {};
	const fleet = createFleet({ core, clock, hostName });
	const waker = createWaker();
	const prober = createFactProber(host, core);
	const questions = createQuestions({ core, clock, host, name: hostName });
	const drive = options.drive ?? "auto";
	const loop = createLoop({ core, clock, host, log: options.log, config: settings.now, waker, prober, drive });
	core.onCommit = (news) => {
		prober.note(news);
		if (news.asks.size > 0) questions.note(news.asks);
		loop.note(news);
	};
	const opened = await core.call("open", { host: { name: hostName, labels, repos, home }, shared: settings.shared() });
	fleet.joined(opened.life);
	for (const key of opened.watched) prober.watch(key, "known");
	for (const key of opened.asked) prober.watch(key, "asked");
	loop.hurry();
	const { poll_others_ms: everyMs } = options;
	const isPolled = isStale !== undefined && everyMs !== undefined && drive !== "manual";
	const stopPolling = isPolled ? pollForOthers({ isStale, host, core, wake: waker.wake, everyMs }) : () => {};
	return { core, clock, host, hostName, settings, fleet, waker, prober, questions, loop, stopPolling };
}

function methodsOf({ settings, fleet, prober, questions, loop, stopPolling, ...opened }: Library, options: LibraryOptions) {
	const { core, clock, host, waker } = opened;
	const config = settings.now;
	const parts: LibraryParts = { ...opened, config };
	const { lookFor } = prober;
	const { agents, piece } = options;
	const adding = createAdding({ core, clock, config, lookFor, agents });
	const changed = () => {
		waker.wake();
		loop.hurry();
	};
	let closed = false;
	const scheduler: Scheduler = {
		add: (input, act) => promised(() => adding.add(input, checkAct(act) ?? {})),
		apply: async (manifest, act) =>
			apply({ core, clock, host, config, lookFor, agents, piece: piece ?? PIECE }, manifest, checkAct(act) ?? {}),
		edit: adding.edit,
		...triggerMethods(parts, adding),
		...claimMethods(parts, fleet.lifeOf),
		...holdMethods(parts),
		...runMethods(parts),
		...cancelMethods(parts, piece),
		...jobMethods(parts, loop.tick),
		...viewMethods(parts),
		watch: loop.watch,
		observe: async (facts) => {
			await core.call("observe", { facts, stale: [] });
		},
		mark: async (artifact, act) => core.call("mark", { artifact, state: act?.absent ? "absent" : "present" }, act),
		...accountMethods(parts),
		...ledgerMethods(parts),
		...settings.methods(parts, changed),
		...fleet.methods,
		work: (lane, fn, more = {}) => startWorker({ core, waker, host, config, clock }, check.label(lane, "lane"), fn, more),
		tick: async (how = {}) => {
			if (how.cycle === "now") await core.call("openCycle", {});
			return loop.tick();
		},
		outputs: { ...outputMethods(core), inquire: questions.inquire, answer: questions.answer },
		people: {
			read: () => core.look((tx) => answer(copy(tx.memory.meta("people") ?? {}))),
			change: (change, act) => core.call("changePeople", change, act),
		},
		webhooks: webhookMethods(core),
		kernel: kernelMethods(core, config),
		async close() {
			if (closed) return;
			closed = true;
			stopPolling();
			await loop.close();
			await core.close();
		},
	};
	return scheduler;
}
