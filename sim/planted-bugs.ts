// Bugs that the simulator must catch: one small change each to a file of the compiled engine.

export type Bug = {
	name: string;
	/** Below dist/src. */
	file: string;
	/** Only hosts that come and go meet it. */
	fleet?: true;
	/** Occurs exactly once in it. */
	find: string;
	replace: string;
};

export const BUGS: Bug[] = [
	{
		name: "a cap off by one",
		file: "core/gates/capacity.js",
		find: "if (used + amount <= limit)",
		replace: "if (used + amount <= limit + 1)",
	},
	{
		name: "forced jobs ignore the safety cap",
		file: "core/gates/capacity.js",
		find: "if (config.safety_cap > 0)",
		replace: "if (config.safety_cap > 0 && !bucket.forced)",
	},
	{
		name: "a slot is not given back",
		file: "scheduler/finish.js",
		find: 'tx.count("usage", key, -amount);',
		replace: 'if (!key.startsWith("lane:")) tx.count("usage", key, -amount);',
	},
	{
		name: "exclusive locks are shared",
		file: "core/gates/locks.js",
		find: 'const clash = lock.mode === "exclusive" ? others : others',
		replace: 'const clash = lock.mode === "exclusive" ? others.slice(1) : others',
	},
	{
		name: "a lock is released with its holders",
		file: "scheduler/locks.js",
		find: 'tx.put("lock", key, holders.length > 0 ? { holders } : null);',
		replace: 'tx.put("lock", key, null);',
	},
	{
		name: "who has a lock alone is forgotten by those who come later",
		file: "scheduler/lock-reads.js",
		find: "        if (runs)\n            running.set(key, job);",
		replace: "        if (runs && key === '')\n            running.set(key, job);",
	},
	{
		name: "a lock that one job had is never free again for those who knew it",
		file: "scheduler/locks.js",
		find: 'tx.memory.remember("lock", key, null);',
		replace: ";",
	},
	{
		name: "nobody is woken when a lock is free",
		file: "scheduler/locks.js",
		find: "    for (const { key } of job.locks ?? [])\n        if (!isUnawaited(tx, key))\n            yield* pump(tx, key);\n}",
		replace: "}",
	},
	{
		name: "a missing fence",
		file: "scheduler/finish.js",
		find: "if (job.run === undefined || job.run.token !== token)",
		replace: "if (job.run === undefined)",
	},
	{
		name: "one retry too many",
		file: "core/outcome.js",
		find: "if (policy.on.includes(exit_kind) && failures <= policy.max)",
		replace: "if (policy.on.includes(exit_kind) && failures <= policy.max + 1)",
	},
	{
		name: "retries of kinds that the policy leaves out",
		file: "core/outcome.js",
		find: "if (policy.on.includes(exit_kind) && failures",
		replace: "if (failures",
	},
	{
		name: "the dispatch breaker trips late",
		file: "core/outcome.js",
		find: "count >= config.dispatch_breaker",
		replace: "count > config.dispatch_breaker",
	},
	{
		name: "a cancel intent is forgotten",
		file: "core/outcome.js",
		find: "return intent ? intent.kind : ended.exit_kind;",
		replace: "return ended.exit_kind;",
	},
	{
		name: "back-off without its jitter bound",
		file: "core/retry.js",
		find: "(1 + policy.jitter * (2 * chance - 1))",
		replace: "(1 + 3 * policy.jitter * (2 * chance - 1))",
	},
	{ name: "lower P first", file: "core/plan.js", find: "a.p !== b.p ? a.p > b.p", replace: "a.p !== b.p ? a.p < b.p" },
	{
		name: "age is not counted",
		file: "core/order.js",
		find: "Math.floor((now - ageAtMs) / 60_000)",
		replace: "Math.floor((now - ageAtMs) / 600_000)",
	},
	{
		name: "depth is not counted",
		file: "core/order.js",
		find: "return job.priority + depthOf(job) * order.depth_boost_per_level - penalty;",
		replace: "return job.priority - penalty;",
	},
	{
		name: "the overdue turn never comes",
		file: "core/plan.js",
		find: "return world.starts % overdue_share === overdue_share - 1;",
		replace: "return false;",
	},
	{ name: "promoted jobs do not go first", file: "core/plan.js", find: "if (top.head.rank > 0)", replace: "if (false)" },
	{
		name: "a dependency counts twice",
		file: "scheduler/settle.js",
		find: "job.deps_left = (job.deps_left ?? 1) - 1;",
		replace: "job.deps_left = Math.max(0, (job.deps_left ?? 1) - 2);",
	},
	{
		name: "after: failure takes a cancelled one",
		file: "core/gates/after.js",
		find: 'return status === "failed" || status === "expired"',
		replace: 'return status === "failed" || status === "cancelled" || status === "expired"',
	},
	{
		name: "blocking does not cascade",
		file: "scheduler/settle.js",
		find: 'yield* endJob(tx, job, { status: "blocked_by_dependency", exit_code: null, end_reason });',
		replace: "return;",
	},
	{
		name: "a spent budget goes on",
		file: "core/ledger.js",
		find: "used > ledger.limit : used >= ledger.limit",
		replace: "used > ledger.limit : used > ledger.limit",
	},
	{
		name: "runs set nothing aside of a budget",
		file: "scheduler/claim.js",
		find: "reserveBudgets(tx, job);",
		replace: ";",
	},
	{
		name: "what was set aside of a budget is kept",
		file: "scheduler/budgets.js",
		find: 'tx.count("usage", key, -amount);',
		replace: ";",
	},
	{ name: "a deadline is let pass", file: "core/gates/deadline.js", find: "job.deadline > now", replace: "job.deadline > now - 3600000" },
	// biome-ignore lint/suspicious/noTemplateCurlyInString: it is looked for in the built text
	{ name: "paused lanes start jobs", file: "core/gates/holds.js", find: "`lane:${bucket.lane}`, ...", replace: "..." },
	{
		name: "the hard queue limit is one off",
		file: "scheduler/add.js",
		find: "if (tx.memory.ready - room >= limit)",
		replace: "if (tx.memory.ready - room > limit + 1)",
	},
	{ name: "a lost lease is not noticed", file: "scheduler/sweep.js", find: 'if (leases === "renew") {', replace: "if (true) {" },
	{ name: "gc takes what others refer to", file: "scheduler/upkeep.js", find: "if (yield* isReferred(tx, job))", replace: "if (false)" },
	{
		name: "a rate limit burns a retry",
		file: "core/outcome.js",
		find: '        case "rate_limited":\n        case "preempted":',
		replace: '        case "rate_limited":\n            return { to: "wait", exit_kind, burns: "failure" };\n        case "preempted":',
	},
	{ name: "a rewind forgets the counters", file: "scheduler/rewind.js", find: '        "failures",\n', replace: "" },
	{ name: "locks are not taken at claim", file: "scheduler/claim.js", find: "yield* takeLocks(tx, job);", replace: ";" },
	{
		name: "a limited account is used",
		file: "scheduler/limits.js",
		find: "const until = Math.min(MAX_TIME, Math.max(wanted, known?.until ?? 0));",
		replace: "const until = tx.now;",
	},
	{
		name: "an item is added twice",
		file: "scheduler/add.js",
		find: "return chain ? (openJobs(chain)[0] ?? chain.chain) : undefined;",
		replace: "return undefined;",
	},
	{
		name: "why forgets that a launch failed",
		file: "core/gates/index.js",
		find: "reasons.push(...(askSpawn(job, facts.now) ?? []));",
		replace: ";",
	},
	{
		name: "jobs of a stage tell what becomes of them",
		file: "scheduler/tx.js",
		find: "if (job !== null && this.isComing(job))",
		replace: "if (false)",
	},
	{
		name: "a stage that was cut off stays",
		file: "scheduler/apply.js",
		find: "if (at < tx.now - STAGE_STALE_MS &&",
		replace: "if (false &&",
	},
	{
		name: "a breaker refunds nobody",
		file: "scheduler/limits.js",
		find: "yield* refund(tx, streak.jobs.slice(0, -1));",
		replace: ";",
	},
	{ name: "an ended job still counts as waiting", file: "scheduler/tx.js", find: 'this.count("depth", job.lane, -1);', replace: ";" },
	{
		name: "who is told of a waiter believes the line empty",
		file: "scheduler/memory.js",
		find: "            this.joinLine(line);\n",
		replace: "",
	},
	{
		name: "who is told of a ready job overlooks it",
		file: "scheduler/memory.js",
		find: 'if (line === "")',
		replace: "if (false)",
	},
	{
		name: "who is told of a job forgets its time",
		file: "scheduler/memory.js",
		find: "if (due_at !== null && this.nextDue !== undefined)",
		replace: "if (false)",
	},
	{
		name: "a lost host keeps its slots",
		fleet: true,
		file: "scheduler/finish.js",
		find: 'tx.count("usage", key, -amount);',
		replace: 'if (!(ending.reboot && key.startsWith("host:"))) tx.count("usage", key, -amount);',
	},
	{
		name: "a lost host burns a retry",
		fleet: true,
		file: "scheduler/hosts.js",
		find: "reboot: true,",
		replace: "",
	},
	{
		name: "a lost host keeps its runs",
		fleet: true,
		file: "scheduler/hosts.js",
		find: "if (isOf(job, host) && job.run.token < note.before)",
		replace: "if (false)",
	},
	{
		name: "a draining host claims",
		fleet: true,
		file: "core/gates/host.js",
		find: 'hostState(host, now) === "live" &&',
		replace: '["live", "draining"].includes(hostState(host, now)) &&',
	},
	{
		name: "a stale host claims",
		fleet: true,
		file: "core/gates/host.js",
		find: 'hostState(host, now) === "live" &&',
		replace: '["live", "stale"].includes(hostState(host, now)) &&',
	},
	{
		name: "the end of a lost run is taken",
		fleet: true,
		file: "scheduler/finish.js",
		find: "if (job.run === undefined || job.run.token !== token)",
		replace: "if (job.run === undefined || (job.run.token !== token && job.run.attempt < 2))",
	},
	{
		name: "no grace before a host is lost",
		fleet: true,
		file: "scheduler/hosts.js",
		find: "(stale_at ?? tx.now) + graceMs(tx.config.stale_after_ms)",
		replace: "(stale_at ?? tx.now)",
	},
	{
		name: "an overtaken process goes on",
		fleet: true,
		file: "scheduler/hosts.js",
		find: "    if (host.token !== life)\n        throw overtaken(name);\n}",
		replace: "}",
	},
	{
		name: "a restart forgets the drain",
		fleet: true,
		file: "scheduler/hosts.js",
		find: "if (before?.drain)",
		replace: "if (false)",
	},
	{
		name: "a host leaves with its runs",
		fleet: true,
		file: "scheduler/hosts.js",
		find: "    if (runsOn(tx, name) > 0) {",
		replace: "    if (false) {",
	},
	{
		name: "a job that stays somewhere goes anywhere",
		fleet: true,
		file: "core/gates/host.js",
		find: "return bound ? [bound] : able;",
		replace: "return able;",
	},
	{
		name: "nobody is woken for a host's lease",
		fleet: true,
		file: "scheduler/sweep.js",
		find: "at(nextHostAt(tx));",
		replace: ";",
	},
];
