// The intake: sources, recipes, slinging, pick-up and write-back, put together. The daemon owns it; the API's methods call it.

import type { Host } from "../contracts/host.ts";
import type { Intake, ItemView, RepoRecipes, SourceView } from "../contracts/intake.ts";
import type { Log } from "../contracts/log.ts";
import type { Scheduler } from "../contracts/scheduler.ts";
import type { Item, ItemFault, QueueMark, Source, SourceSettings, Sources } from "../contracts/source.ts";
import { createTurns } from "../contracts/turns.ts";
import { messageOf } from "../core/errors.ts";
import type { JobInput } from "../core/job.ts";
import { type ExpandParts, expand } from "./expand.ts";
import { createPickup, eligibleIn } from "./pickup.ts";
import { checkRecipe, openRecipeBook } from "./recipe-book.ts";
import { recoverCards } from "./recovery.ts";
import type { Repos } from "./repos.ts";
import { repoFor } from "./repos.ts";
import { ignoredRecipes, made, orderOf, type SlingParts, sling } from "./sling.ts";
import { type Cursor, createWriteBack } from "./write-back.ts";

type SourceShelf = Pick<Sources, "all" | "get" | "find" | "survey" | "configure">;

export type IntakeParts = {
	scheduler: Scheduler;
	sources: SourceShelf;
	host: Pick<Host, "after">;
	log: Log;
	home: string;
	repos: () => Repos;
	/** The repo's own recipes, if they are in force. */
	recipesOf: (repo: string) => RepoRecipes;
	/** Throws if a repo of this machine does not have the branch. */
	mustHaveBranch: (repo: string, branch: string) => Promise<void>;
	cursor: Cursor;
	/** This queue's identity, for other queues that write to the same board. */
	queue: () => Promise<QueueMark>;
};

export function createIntake(parts: IntakeParts) {
	const { scheduler, sources, host, log } = parts;
	const book = openRecipeBook(parts.home, parts.recipesOf);
	const source = (name: string) => sources.all().find((one) => one.name === name);
	const slinging: SlingParts = {
		scheduler,
		survey: () => sources.survey(),
		usual(name) {
			const { repo = null, lane = null, recipe = null, agent = null, root = "", kind } = source(name)?.settings ?? {};
			return { repo, lane, recipe, agent, root, prefixed: kind === "beads" };
		},
		mustHaveBranch: parts.mustHaveBranch,
		repos: parts.repos,
		book,
	};
	const expanding: ExpandParts = {
		find: (id) => sources.find(id),
		isSource: (name) => source(name) !== undefined,
		laneOf: (name) => slinging.usual(name).lane,
		book,
		tag: () => scheduler.lastEvent(),
	};
	const written = createWriteBack({ scheduler, source, log, cursor: parts.cursor });
	const makePickup = () => createPickup({ scheduler, host, log, written, jobsOf });
	let pickup = makePickup();
	let started = false;

	/** Without a source, events are not followed: they cost nothing then. */
	async function follow(): Promise<void> {
		if (sources.all().length === 0) return;
		await written.start();
		const current = pickup;
		// Not awaited: a board on a network file system must not delay the daemon's start.
		for (const one of sources.all()) void recovered(one).finally(() => current.follow(one));
	}

	/** Once for each opened source. */
	const lookedAt = new WeakSet<Source>();
	async function recovered(one: Source): Promise<void> {
		if (lookedAt.has(one)) return;
		lookedAt.add(one);
		await recoverCards({ scheduler, written, log, queue: parts.queue }, one).catch((error) =>
			log.warn("cards that were left behind could not be looked for", { source: one.name, error: messageOf(error) }),
		);
	}

	async function jobsOf(item: Item): Promise<JobInput[]> {
		const { repo: usual, prefixed } = slinging.usual(item.source);
		const repo = repoFor(item.id, { named: undefined, usual, repos: parts.repos(), force: false, prefixed });
		const order = orderOf(slinging, { ids: [item.id] }, item, { repo, tag: String(await scheduler.lastEvent()), batch: null });
		order.fields.trigger = "watch";
		const jobs = made(slinging, { ids: [item.id] }, undefined, item, order);
		for (const problem of ignoredRecipes(
			book,
			jobs.slice(0, 1).map(({ recipe }) => ({ recipe, repo })),
			item,
		))
			log.warn(problem, { item: item.id });
		return jobs.map(({ job }) => job);
	}

	/** Two calls that name the same item must not both find it free, nor take the same tag. */
	const { inTurn } = createTurns();

	async function look(one: Source): Promise<{ source: SourceView; items: Item[] }> {
		const { kind, root, repo, watch, write_back } = one.settings;
		const view = { name: one.name, kind, root, repo, watch, write_back };
		try {
			const { items, faults } = await one.scan();
			const count = (fits: (item: Item) => boolean) => items.filter(fits).length;
			return {
				items,
				source: {
					...view,
					items: items.length,
					open: count((item) => item.open),
					eligible: count((item) => item.eligible),
					faults: [...faults, ...items.flatMap((item) => reports(one, item))],
					error: null,
				},
			};
		} catch (error) {
			const said = messageOf(error);
			return { items: [], source: { ...view, items: null, open: null, eligible: null, faults: one.faults?.() ?? [], error: said } };
		}
	}

	/** Inconsistencies that are reported and left as they are. */
	function reports(one: Source, item: Item): ItemFault[] {
		const key = `${one.name}:${item.id}`;
		const fault = (message: string, hint: string | null = null, code = "conflict") => ({
			source: one.name,
			id: item.id,
			place: item.place,
			code,
			message: `${item.place}: ${message}`,
			hint,
		});
		const untaken = pickup.troubles().get(key);
		const unwritten = written.troubles().get(key);
		const troubles = untaken === undefined ? [] : [fault(untaken.message, untaken.hint, untaken.code)];
		if (unwritten !== undefined) troubles.push(fault(unwritten));
		if (item.report !== undefined) troubles.push(fault(item.report));
		if (started && one.settings.kind === "cards" && item.in_progress && written.openJobs(key).length === 0 && troubles.length === 0)
			troubles.push(fault("its agent_status says that it is worked on, but no job does", "set agent_status to idle to have it done"));
		return troubles;
	}

	const intake: Intake = {
		sling: (input, act) => inTurn(() => sling(slinging, input, act)),
		expand: (input) => expand(expanding, input),
		sources: async () => Promise.all(sources.all().map(async (one) => (await look(one)).source)),
		async source(name) {
			const { source, items } = await look(sources.get(name));
			return { source, items: items.map(viewOf) };
		},
		async scan(name) {
			const some = name === undefined ? sources.all() : [sources.get(name)];
			const added: number[] = [];
			const looked: SourceView[] = [];
			for (const one of some) {
				const { items } = await look(one);
				if (one.settings.watch) added.push(...(await pickup.take(one, eligibleIn(items))));
				await written.caughtUp();
				looked.push((await look(one)).source);
			}
			return { sources: looked, added };
		},
		recipes: (repo) => book.list(repo),
		recipe: (name, repo) => book.show(name, repo),
		recipeProblem: (repo, name) => book.problem(repo, name),
		checkRecipe,
	};
	return {
		...intake,
		/** Begins to follow events. */
		async start(): Promise<void> {
			started = true;
			await follow();
		},
		/** Applies new settings of the sources. */
		async configure(settings: Record<string, SourceSettings>): Promise<void> {
			if (!sources.configure(settings) || !started) return;
			pickup.close();
			pickup = makePickup();
			await follow();
		},
		async stop(): Promise<void> {
			pickup.close();
			await written.stop();
		},
	};
}

const viewOf = (item: Item): ItemView => {
	const { source, id, kind, title, status, open, in_progress, eligible, held, blocked_by, members, batch, phase } = item;
	const { flow, parallelizable, place } = item;
	const from = { source, id, kind, title: title.length > 300 ? `${title.slice(0, 299)}…` : title, status, open, in_progress, eligible };
	return { ...from, held, blocked_by, members, batch, phase, flow, parallelizable, place };
};
