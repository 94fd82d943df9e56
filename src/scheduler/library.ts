// The Scheduler of the contract: every method as a task for the engine, and the loop that keeps time, probes facts and wakes workers.

import * as check from "../core/check.ts";
import type { Config } from "../core/config.ts";
import { presetConfig, readConfig } from "../core/config-input.ts";
import { copy } from "../core/copy.ts";
import { isProbed } from "../core/fact.ts";
import type { Clock, Host } from "../host.ts";
import type { Act, ConfigInput, EventRow, News, OpenOptions, Scheduler } from "../scheduler.ts";
import { ask, type Store } from "../store.ts";
import { accountMethods } from "./account-door.ts";
import { addJob } from "./add.ts";
import { createAdding } from "./adding.ts";
import { PIECE } from "./apply.ts";
import { apply } from "./apply-run.ts";
import { closeBreaker } from "./breakers.ts";
import { cancelMethods } from "./cancel-methods.ts";
import { claimMethods } from "./claim-door.ts";
import * as control from "./control.ts";
import { openCycle } from "./cycle.ts";
import { withDoor } from "./door.ts";
import { Engine, type Task } from "./engine.ts";
import type { FactRecord } from "./facts.ts";
import * as finishing from "./finish.ts";
import { answered, extend, finish, started } from "./finish.ts";
import { createFleet } from "./fleet-door.ts";
import { makeForecast } from "./forecast.ts";
import { readGraph } from "./graph.ts";
import { offer } from "./hosts.ts";
import { keepUp } from "./keep-up.ts";
import { kernelDoor } from "./kernel-door.ts";
import { ledgerMethods } from "./ledger-door.ts";
import { checkAct, checkEnding, checkedBreaker, checkedScope, checkGranted, checkIds } from "./library-input.ts";
import { listenForOthers } from "./listening.ts";
import * as look from "./look.ts";
import { createLooks } from "./looks.ts";
import { mergeMethods } from "./merge-door.ts";
import { always, mark, record } from "./observe.ts";
import { createOutputs } from "./outputs.ts";
import { inTime } from "./pass.ts";
import * as registers from "./registers.ts";
import { rewind, rewindAll } from "./rewind.ts";
import { createSharedSettings } from "./shared-settings.ts";
import { triggerMethods } from "./trigger-door.ts";
import { assigned, forgetBefore, recover } from "./upkeep.ts";
import { resultsFor } from "./voice.ts";
import { voiceMethods } from "./voice-methods.ts";
import { waitMethods } from "./wait-methods.ts";
import { createWaker } from "./waker.ts";
import { startWorker } from "./worker.ts";

export type Parts = { store: Store; clock: Clock; host: Host; chance: () => number };

export async function createScheduler(
	options: Omit<OpenOptions, "path" | "url" | "clock" | "host" | "chance" | "fault">,
	parts: Parts,
): Promise<Scheduler> {
	let config: Config = readConfig(options.config ?? {}, presetConfig(options.preset));
	const by = options.by ?? "library";
	const { clock, host } = parts;
	const shared = options.settings === "shared" ? createSharedSettings(config) : null;
	const engine = new Engine({ ...parts, by, config: (memory) => (shared ? followShared(shared.in(memory)) : config) });
	const hostName = options.join?.name ?? "local";
	const fleet = createFleet({ engine, clock, store: parts.store, name: hostName });
	const waker = createWaker();
	const looks = createLooks(host, engine);
	const between = createOutputs({ engine, clock, host, name: hostName });
	const watchers = new Set<(news: News) => void>();
	let [closed, written] = [false, 0];
	/** Somebody else may have changed them; whoever is affected hears of the event. */
	function followShared(next: Config): Config {
		config = next;
		return next;
	}

	// ---- the loop -------------------------------------------------------------------------------------------------------------------
	let cancelTimer = () => {};
	let timerAt = Number.POSITIVE_INFINITY;
	/** What falls due is the leader's to do; the others come a little later, in case that it does not. */
	let lag = 0;
	let ticking: Promise<unknown> | undefined;
	/** An earlier tick that is set already stays: a busy queue must not push it ahead of itself for ever. */
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

	/** Sweeps, settles and probes until nothing is left to do now. */
	async function pass(): Promise<number | null> {
		await looks.again();
		// Who ticks by hand is told when something falls due.
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

	/** Whatever is wrong with the arguments comes as a rejection too. */
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
					tx.put("settle", "rekey", { after: 0 });
				}
				tx.event("configured", null, { keys: Object.keys(input) });
				yield* [];
			}, act);
			// In force once it is on record; what a raised cap lets through goes at once.
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
		kernel: kernelDoor(engine, () => config),
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
			const some = await engine.look(() => ask({ read: "events", since: last, limit: 500 }));
			for (const event of some) {
				last = event.seq;
				yield event;
			}
			if (some.length === 0) await heard;
		}
	}

	await engine.run(function* (tx) {
		const facts = yield* ask({ read: "standing", kinds: ["fact"] });
		for (const [, key, value] of facts) {
			if (!isProbed(key)) continue;
			looks.watch(key, (value as FactRecord).asked ? "asked" : "known");
		}
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
	return withDoor(scheduler);
}
