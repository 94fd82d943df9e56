// Implements the contract `Scheduler`: every method as a task for the engine, and the loop that runs timers, probes facts and wakes workers.

import type { Clock, Host } from "../../contracts/host.ts";
import type { Act, CommitSummary, ConfigInput, EventRow, OpenOptions, Scheduler } from "../../contracts/scheduler.ts";
import { ask, type Store } from "../../contracts/store.ts";
import type { Config } from "../../core/config.ts";
import { isProbed } from "../../core/fact.ts";
import * as check from "../../core/input/check.ts";
import { presetConfig, readConfig } from "../../core/input/config.ts";
import { copy } from "../../core/text/copy.ts";
import { PIECE } from "../apply/apply.ts";
import { apply } from "../apply/run.ts";
import { kernelMethods } from "../kernel/methods.ts";
import { closeBreaker } from "../limits/breakers.ts";
import { openCycle } from "../limits/cycle.ts";
import { addJob } from "../operations/add.ts";
import * as control from "../operations/control.ts";
import * as finishing from "../operations/finish.ts";
import { answered, extend, finish, started } from "../operations/finish.ts";
import { offer } from "../operations/hosts.ts";
import { always, mark, record } from "../operations/observe.ts";
import { rewind, rewindAll } from "../operations/rewind.ts";
import { assigned, forgetBefore, recover } from "../operations/upkeep.ts";
import { resultsFor } from "../operations/verdicts.ts";
import { Engine, type Task } from "../transaction/group-commit.ts";
import { storedRecords } from "../transaction/record-map.ts";
import type { HighestIds } from "../transaction/restored.ts";
import { makeForecast } from "../views/forecast.ts";
import { readGraph } from "../views/graph.ts";
import * as look from "../views/jobs.ts";
import * as registers from "../views/listings.ts";
import { continueLater } from "../waiting/continuation.ts";
import { createFactProber } from "../waiting/fact-probes.ts";
import { accountMethods } from "./accounts.ts";
import { createAdding } from "./add.ts";
import { withValidatedArguments } from "./arguments.ts";
import { inTime } from "./bounded-pass.ts";
import { ledgerMethods } from "./budgets.ts";
import { cancelMethods } from "./cancels.ts";
import { claimMethods } from "./claims.ts";
import { createFleet } from "./hosts.ts";
import { checkAct, checkEnding, checkedBreaker, checkedScope, checkGranted, checkIds } from "./input.ts";
import { listenForOthers } from "./listening.ts";
import { keepUp } from "./loop.ts";
import { mergeMethods } from "./merges.ts";
import { createOutputs } from "./outputs.ts";
import { createSharedSettings } from "./shared-settings.ts";
import { triggerMethods } from "./triggers.ts";
import { voiceMethods } from "./verdicts.ts";
import { waitMethods } from "./waits.ts";
import { createWaker } from "./waker.ts";
import { startWorker } from "./worker.ts";

/** Events that a reader holds at most: one that does not read on keeps them in memory. */
const EVENTS_READ = 100;

export type SchedulerDeps = { store: Store; clock: Clock; host: Host; chance: () => number; seen?: HighestIds };

export async function createScheduler(
	options: Omit<OpenOptions, "path" | "url" | "clock" | "host" | "chance" | "fault">,
	parts: SchedulerDeps,
): Promise<Scheduler> {
	let config: Config = readConfig(options.config ?? {}, presetConfig(options.preset));
	const by = options.by ?? "library";
	const { clock, host } = parts;
	const shared = options.settings === "shared" ? createSharedSettings(config) : null;
	const engine = new Engine({ ...parts, by, config: (memory) => (shared ? followShared(shared.in(memory)) : config) });
	const hostName = options.join?.name ?? "local";
	const fleet = createFleet({ engine, clock, store: parts.store, name: hostName });
	const waker = createWaker();
	const looks = createFactProber(host, engine);
	const between = createOutputs({ engine, clock, host, name: hostName });
	const watchers = new Set<(news: CommitSummary) => void>();
	let [closed, written] = [false, 0];
	/** Adopts the shared settings, which another process may have changed. Consumers of settings learn of that from the `configured` event. */
	function followShared(next: Config): Config {
		config = next;
		return next;
	}

	// ---- the loop -------------------------------------------------------------------------------------------------------------------
	let cancelTimer = () => {};
	let timerAt = Number.POSITIVE_INFINITY;
	/** The leader runs timers; other hosts run them this much later, as a fallback. */
	let lag = 0;
	let ticking: Promise<unknown> | undefined;
	/** Sets the timer for the next tick. An earlier time that is already set stays: otherwise a busy queue would postpone it for ever. */
	const schedule = (at: number | null) => {
		if (closed || options.drive === "manual" || at === null || at >= timerAt) return;
		cancelTimer();
		timerAt = at;
		cancelTimer = host.after(Math.max(0, at - clock.now()), () => {
			timerAt = Number.POSITIVE_INFINITY;
			ticking ??= tick()
				.catch(() => clock.now() + config.poll_interval_ms)
				.then((next) => {
					ticking = undefined;
					schedule(next);
				});
		});
	};
	engine.onCommit = (news) => {
		const { stirred, probes, events, heard, more, due } = news;
		written += events.length;
		looks.note(news);
		if (news.asks.size > 0) between.note(news.asks);
		if (events.length > 0 || stirred) {
			waker.wake();
			for (const call of watchers) call({ stirred, events, heard });
		}
		if (more || probes.size > 0) schedule(clock.now());
		else if (events.length > 0) schedule(Math.min((due ?? Number.POSITIVE_INFINITY) + lag, clock.now() + config.poll_interval_ms));
	};

	const tick = () => inTime(pass(), host, options.log);

	/** Sweeps, settles and probes until there is nothing left to do now. */
	async function pass(): Promise<number | null> {
		await looks.again();
		// A caller that ticks by hand wants the exact time when something falls due.
		lag = options.drive === "manual" ? 0 : await fleet.lag();
		for (;;) {
			const { wake, more } = await engine.run((tx) => keepUp(tx, fleet), { intent: "look" });
			if (looks.asked.size > 0) await looks.asking();
			else if (!more && (wake === null || wake > clock.now())) {
				waker.wake();
				for (const call of watchers) call({ stirred: true, events: [], heard: [] });
				if (looks.watched.size === 0 && !parts.store.listen) return wake;
				return Math.min((wake ?? Number.POSITIVE_INFINITY) + lag, clock.now() + config.poll_interval_ms);
			}
		}
	}

	const run = <T>(task: Task<T>, act: Act | undefined, jobs?: readonly number[]) =>
		engine.run(task, { by: checkAct(act)?.by, jobs: jobs ?? [] });
	const id = (value: unknown) => check.integer(value, "id", 1);
	const token = (value: { job: number; token: number }) => ({
		job: check.integer(value?.job, "job", 1),
		token: check.integer(value?.token, "token", 1),
	});

	const adding = createAdding({ engine, clock, config: () => config, lookFor: looks.lookFor, agents: options.agents });

	/** Turns errors in the arguments into a rejection, too. */
	function promised<T>(call: () => Promise<T>): Promise<T> {
		try {
			return call();
		} catch (error) {
			return Promise.reject(error);
		}
	}

	const scheduler: Scheduler = {
		add: (input, act) => promised(() => adding(input, checkAct(act) ?? {}, addJob)),
		...triggerMethods({ engine, run, adding }),

		apply: async (manifest, act) =>
			apply(
				{ engine, clock, host, config: () => config, lookFor: looks.lookFor, agents: options.agents, piece: options.piece ?? PIECE },
				manifest,
				checkAct(act) ?? {},
			),

		...claimMethods({ engine, hostName, mayClaim: (tx) => fleet.check(tx) }),
		started: (at) => engine.run((tx) => started(tx, token(at)), { jobs: [at.job] }),
		answered: (at) => engine.run((tx) => answered(tx, token(at)), { jobs: [at.job] }),
		extend: (at) => engine.run((tx) => extend(tx, token(at)), { jobs: [at.job] }),
		stop: (at, stop, act) => run((tx) => finishing.stop(tx, at, stop), act, [at.job]),
		assigned: (name = hostName) => engine.look((tx) => assigned(tx, name)),
		complete: (ending) =>
			promised(() => {
				check.taking("ending", () => checkEnding(ending));
				return engine.run((tx) => finish(tx, ending), { jobs: [ending.job], phase: "end" });
			}),

		...waitMethods(engine, hostName),
		...voiceMethods(engine),
		...cancelMethods({ engine, run, piece: options.piece }),
		retry: async (at, act) => rewound(at, "downstream", act),
		retryAll: async (at, act) => {
			const wanted = checkIds(at);
			return andRestarted(await run((tx) => rewindAll(tx, wanted), act, wanted));
		},
		rerun: async (at, act) => rewound(at, "alone", act),
		promote: async (at, act) => run((tx) => control.promote(tx, id(at)), act, [id(at)]),
		demote: async (at, act) => run((tx) => control.demote(tx, id(at)), act, [id(at)]),
		priority: async (at, priority, act) => {
			const wanted = check.integer(priority, "priority", -1_000_000, 1_000_000);
			return run((tx) => control.prioritise(tx, id(at), wanted), act, [id(at)]);
		},
		runNow: async (at, act) => run((tx) => control.runNow(tx, id(at), act?.force ? "force" : "in_line"), act, [id(at)]),
		approve: async (at, act) => run((tx) => control.approve(tx, id(at)), act, [id(at)]),
		reject: async (at, act) => run((tx) => control.reject(tx, id(at), act?.reason ?? "rejected"), act, [id(at)]),
		answer: async (at, text, act) => {
			const said = check.text(text, "text");
			const grant = act?.grant === undefined ? undefined : check.taking("grant", () => checkGranted(act.grant));
			return run((tx) => control.answer(tx, id(at), said, grant), act, [id(at)]);
		},
		pause: async (scope = {}, act) => {
			const key = checkedScope(scope);
			return run((tx) => control.pause(tx, key, act?.reason ?? "", act?.until), act);
		},
		resume: async (scope = {}, act) => {
			const key = checkedScope(scope);
			return run((tx) => control.resume(tx, key), act);
		},
		closeBreaker: async (of, act) => {
			const scope = check.taking("of", () => checkedBreaker(of));
			return run((tx) => closeBreaker(tx, scope), act);
		},
		...mergeMethods({ engine, run }),

		show: async (at) =>
			engine.look(
				function* (tx) {
					return yield* look.viewJob(tx, yield* look.mustFind(tx, id(at)));
				},
				{ jobs: [id(at)] },
			),
		list: async (filter = {}) => engine.look((tx) => look.list(tx, filter)),
		why: async (at) =>
			engine.look(
				function* (tx) {
					return { ...(yield* look.why(tx, id(at))), results: yield* resultsFor(tx, id(at)) };
				},
				{ jobs: [id(at)] },
			),
		history: async (at) =>
			engine.look(function* (tx) {
				yield* look.mustFind(tx, id(at));
				return yield* ask({ read: "history", job: id(at) });
			}),
		graph: async (filter = {}) => readGraph((task) => engine.look(task), filter),
		find: async (name) => engine.look((tx) => registers.find(tx, name)),
		status: () => engine.look((tx) => look.status(tx)),
		locks: () => engine.look((tx) => registers.locks(tx)),
		batches: () => engine.look(() => registers.batches()),
		closeBatch: async (name, act) => run((tx) => registers.closeBatch(tx, name), act),
		artifacts: () => engine.look(() => registers.artifacts()),
		forecast: (wanted = {}) => makeForecast({ run: (task) => engine.look(task), config: () => config, clock, host }, wanted),
		events: (from = {}) => events(from.since ?? 0),
		lastEvent: () => engine.look((tx) => registers.lastEvent(tx)),
		watch(call) {
			watchers.add(call);
			return () => watchers.delete(call);
		},

		observe: async (facts) => {
			check.record(facts, "facts");
			await engine.run((tx) => record(tx, { facts, counts: always }));
		},
		mark: async (artifact, act) =>
			run((tx) => mark(tx, check.text(artifact, "artifact", { max: 1000, lines: "one" }), act?.absent ? "absent" : "present"), act),

		...accountMethods({ engine, run }),
		...ledgerMethods({ engine, run }),

		configure: async (input: ConfigInput, act) => {
			const before = config;
			let next = readConfig(input, config);
			await run(function* (tx) {
				if (shared)
					shared.write(
						tx,
						(stored) => {
							next = readConfig(input, stored);
							return next;
						},
						act?.more,
					);
				if (JSON.stringify(before.order) !== JSON.stringify(next.order)) {
					tx.memory.windows.clear();
					continueLater(tx, { do: "rekey", of: null, after: 0 });
				}
				tx.event("configured", null, { keys: Object.keys(input) });
				yield* [];
			}, act);
			// The settings apply once they are committed; jobs that a raised cap admits start at once.
			config = next;
			if (shared) await engine.run(function* () {});
			waker.wake();
			schedule(clock.now());
		},
		config: () => copy(config),
		more: () => copy(shared?.more() ?? {}),
		gc: async ({ days = 7 } = {}) => {
			const before = clock.now() - check.number(days, "days", 0, 100_000) * 86_400_000;
			return forgetBefore((task) => engine.run(task), before);
		},
		recover: async (found, more = {}) => engine.run((tx) => recover(tx, more.host ?? hostName, found, more.reboot === true)),
		offer: (repos) => engine.run((tx) => offer(tx, hostName, repos)),
		...fleet.methods(run),
		work: (lane, fn, more = {}) => startWorker({ engine, waker, host, config: () => config, clock }, check.label(lane, "lane"), fn, more),
		tick: async (how = {}) => {
			if (how.cycle === "now")
				await engine.run(function* (tx) {
					openCycle(tx, "run");
					yield* [];
				});
			return tick();
		},
		outputs: between.outputs,
		kernel: kernelMethods(engine, () => config),
		async close() {
			if (closed) return;
			closed = true;
			cancelTimer();
			stopListening();
			waker.close();
			await ticking?.catch(() => {});
			await engine.close();
		},
	};

	const rewound = async (at: number, what: "downstream" | "alone", act: Act | undefined) =>
		andRestarted(await run((tx) => rewind(tx, id(at), what), act, [id(at)]));

	async function andRestarted<T extends { reset: number[] }>(report: T): Promise<T & { restarted: number[] }> {
		await tick();
		return engine.run(function* (tx) {
			yield* tx.load(report.reset);
			return { ...report, restarted: report.reset.filter((one) => tx.peek(one)?.status === "running") };
		});
	}

	async function* events(since: number): AsyncGenerator<EventRow> {
		let last = check.integer(since, "since", 0);
		while (!closed) {
			const heard = waker.next(config.poll_interval_ms, host);
			const some = await engine.look(() => ask({ read: "events", since: last, limit: EVENTS_READ }));
			for (const event of some) {
				last = event.seq;
				yield event;
			}
			if (some.length === 0) await heard;
		}
	}

	await engine.run(function* (tx) {
		for (const [key, { asked }] of yield* storedRecords("fact")) if (isProbed(key)) looks.watch(key, asked ? "asked" : "known");
		if (shared && !shared.isThere(tx)) {
			shared.write(tx, (first) => first);
			tx.event("configured", null, { keys: Object.keys(options.config ?? {}) });
		}
		yield* fleet.join(tx, {
			name: hostName,
			labels: options.join?.labels ?? [],
			repos: options.join?.repos ?? null,
			home: options.join?.home,
		});
	});
	schedule(clock.now());
	const stopListening = listenForOthers({
		store: parts.store,
		host,
		engine,
		wake: waker.wake,
		clock,
		written: () => written,
		everyMs: options.drive === "manual" ? undefined : options.poll_others_ms,
	});
	return withValidatedArguments(scheduler);
}
