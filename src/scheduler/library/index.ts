// Implements the contract `Scheduler`: every method as a task for the engine, grouped by what it is about, and the loop behind them.

import type { Clock, Host } from "../../contracts/host.ts";
import type { OpenOptions, Scheduler } from "../../contracts/scheduler.ts";
import type { Store } from "../../contracts/store.ts";
import { presetConfig, readConfig } from "../../core/config.ts";
import { isProbed } from "../../core/fact.ts";
import * as check from "../../core/input/check.ts";
import { PIECE } from "../apply/apply.ts";
import { apply } from "../apply/run.ts";
import { kernelMethods } from "../kernel/methods.ts";
import { openCycle } from "../limits/cycle.ts";
import { addJob } from "../operations/add.ts";
import { always, mark, record } from "../operations/observe.ts";
import { Engine } from "../transaction/group-commit.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { HighestIds } from "../transaction/restored.ts";
import { createFactProber } from "../waiting/fact-probes.ts";
import { accountMethods, ledgerMethods } from "./accounts.ts";
import { createAdding, promised, triggerMethods } from "./add.ts";
import { withValidatedArguments } from "./arguments.ts";
import { claimMethods, holdMethods } from "./claims.ts";
import { createFleet } from "./hosts.ts";
import { checkAct } from "./input.ts";
import { cancelMethods, jobMethods } from "./jobs.ts";
import { listenForOthers } from "./listening.ts";
import { createLoop } from "./loop.ts";
import { mergeMethods } from "./merges.ts";
import { outputMethods } from "./outputs.ts";
import type { LibraryParts } from "./parts.ts";
import { createQuestions } from "./questions.ts";
import { runMethods } from "./runs.ts";
import { createSettings } from "./settings.ts";
import { viewMethods } from "./views.ts";
import { createWaker } from "./waker.ts";
import { startWorker } from "./worker.ts";

export type SchedulerDeps = { store: Store; clock: Clock; host: Host; chance: () => number; seen?: HighestIds };
type Options = Omit<OpenOptions, "path" | "url" | "clock" | "host" | "chance" | "fault">;

export async function createScheduler(options: Options, parts: SchedulerDeps): Promise<Scheduler> {
	const library = await openLibrary(options, parts);
	return withValidatedArguments(methodsOf(library, options));
}

/** The parts that methods share: opened, with this host joined and the loop running. */
type Library = Awaited<ReturnType<typeof openLibrary>>;

async function openLibrary(options: Options, parts: SchedulerDeps) {
	const { store, clock, host } = parts;
	const hostName = options.join?.name ?? "local";
	const settings = createSettings(readConfig(options.config ?? {}, presetConfig(options.preset)), options.settings);
	const engine = new Engine({ ...parts, by: options.by ?? "library", config: settings.in });
	const fleet = createFleet({ engine, clock, store, name: hostName });
	const waker = createWaker();
	const prober = createFactProber(host, engine);
	const questions = createQuestions({ engine, clock, host, name: hostName });
	const drive = options.drive ?? "auto";
	const othersWrite = store.listen !== undefined;
	const loop = createLoop({ engine, clock, host, log: options.log, config: settings.now, fleet, waker, prober, drive, othersWrite });
	let written = 0;
	engine.onCommit = (news) => {
		written += news.events.length;
		prober.note(news);
		if (news.asks.size > 0) questions.note(news.asks);
		loop.note(news);
	};
	await engine.run(function* (tx) {
		for (const [key, { asked }] of yield* storedRecords("fact")) if (isProbed(key)) prober.watch(key, asked ? "asked" : "known");
		settings.found(tx, Object.keys(options.config ?? {}));
		const { labels = [], repos = null, home } = options.join ?? {};
		fleet.join(tx, { name: hostName, labels, repos, home });
	});
	loop.hurry();
	const stopListening = listenForOthers({
		store,
		host,
		engine,
		wake: waker.wake,
		clock,
		written: () => written,
		everyMs: drive === "manual" ? undefined : options.poll_others_ms,
	});
	return { clock, host, hostName, settings, engine, fleet, waker, prober, questions, loop, stopListening };
}

function methodsOf({ settings, fleet, prober, questions, loop, stopListening, ...opened }: Library, options: Options) {
	const { engine, clock, host, waker } = opened;
	const config = settings.now;
	const parts: LibraryParts = {
		...opened,
		config,
		run: (task, act, jobs = []) => engine.run(task, { by: act?.by, jobs }),
		runPlain: (task, act) => engine.runPlain(task, { by: act?.by }),
	};
	const { lookFor } = prober;
	const { agents, piece } = options;
	const adding = createAdding({ engine, clock, config, lookFor, agents });
	const changed = () => {
		waker.wake();
		loop.hurry();
	};
	let closed = false;
	const scheduler: Scheduler = {
		add: (input, act) => promised(() => adding(input, checkAct(act) ?? {}, addJob)),
		apply: async (manifest, act) =>
			apply({ engine, clock, host, config, lookFor, agents, piece: piece ?? PIECE }, manifest, checkAct(act) ?? {}),
		...triggerMethods(parts, adding),
		...claimMethods(parts, (tx) => fleet.check(tx)),
		...holdMethods(parts),
		...runMethods(parts),
		...cancelMethods(parts, piece),
		...jobMethods(parts, loop.tick),
		...mergeMethods(parts),
		...viewMethods(parts),
		watch: loop.watch,
		observe: async (facts) => {
			await engine.run((tx) => record(tx, { facts, counts: always }));
		},
		mark: async (artifact, act) => parts.run((tx) => mark(tx, artifact, act?.absent ? "absent" : "present"), act),
		...accountMethods(parts),
		...ledgerMethods(parts),
		...settings.methods(parts, changed),
		...fleet.methods(parts),
		work: (lane, fn, more = {}) => startWorker({ engine, waker, host, config, clock }, check.label(lane, "lane"), fn, more),
		tick: async (how = {}) => {
			if (how.cycle === "now") await engine.runPlain((tx) => openCycle(tx, "run"));
			return loop.tick();
		},
		outputs: { ...outputMethods(engine), inquire: questions.inquire, answer: questions.answer },
		kernel: kernelMethods(engine, config),
		async close() {
			if (closed) return;
			closed = true;
			stopListening();
			await loop.close();
			await engine.close();
		},
	};
	return scheduler;
}
