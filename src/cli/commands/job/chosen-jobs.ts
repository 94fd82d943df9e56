// Commands about several jobs: those that are named, or all that match a filter. More than one job by a filter is asked about first.

import type { Params } from "../../../api/protocol.ts";
import { given } from "../../../core/given.ts";
import { STATUSES, type Status } from "../../../core/job.ts";
import type { Call } from "../../command.ts";
import { FILTER_NAMES } from "../../command-line/shared-options.ts";
import { usage } from "../../failure.ts";
import { firstLine, type Io, idOf } from "../../io.ts";
import { counted } from "../../printing/print.ts";
import { durationOf } from "../../times.ts";

type Ref = number | string;
type Filter = Params<"job.select">["filter"];
/** `named`: the caller named them, so that a single job that is refused is an error. */
export type Chosen = { ids: readonly Ref[]; named: boolean };

/** What a command can be about, if the filter names no status. */
export type Usual = Pick<Filter, "held" | "asks"> & { status?: readonly Status[] };

/** The jobs; undefined if the person said no, or if none matches: the reason is printed. */
export async function chosenJobs(
	call: Call,
	io: Io,
	{ asks: question, usual }: { asks: string; usual: Usual },
): Promise<Chosen | undefined> {
	const filter = filterOf(call, io, usual);
	const ids = call.args("ID").map(idOf);
	if (ids.length > 0) {
		if (filter !== undefined) throw usage("give jobs or a filter, not both", `leave out ${call.args("ID").join(" ")}, or the filter`);
		return { ids, named: true };
	}
	const { name } = call.command;
	if (filter === undefined)
		throw usage(
			`${name}: which job? Give a number or a name`,
			`or a filter, for example: sluice ${name} --lane NAME; --all for all of them`,
		);
	const found = await io.ask("job.select", { filter });
	if (found.total === 0) {
		io.print.say("no job matches");
		return undefined;
	}
	if (
		found.total > 1 &&
		!call.flag("yes") &&
		!(await isConfirmed(io, `${question} ${counted(found.total, "job")} (${few(found.ids)})? [y/N] `, name))
	) {
		io.print.say("nothing was done");
		return undefined;
	}
	if (found.total > found.ids.length)
		io.print.warn(`only the first ${found.ids.length} of ${found.total} jobs: type it again for the rest`);
	return { ids: found.ids, named: found.total === 1 };
}

const few = (ids: readonly number[]): string => `${ids.slice(0, 5).join(", ")}${ids.length > 5 ? " …" : ""}`;

async function isConfirmed({ world, json }: Io, question: string, name: string): Promise<boolean> {
	if (!world.stdin.isTTY || json)
		throw usage(
			`${name} by a filter is about several jobs, and there is no terminal to ask at`,
			"if you are sure, add --yes; sluice list shows which they are",
		);
	world.stderr.write(question);
	return /^y(?:es)?$/i.test((await firstLine(world.stdin)).trim());
}

/** Undefined if the caller gave no filter. */
function filterOf(call: Call, { world }: Io, usual: Usual): Filter | undefined {
	const options = new Set((call.command.options ?? []).map(({ name }) => name));
	const isGiven = FILTER_NAMES.some((name) => options.has(name) && call.has(name));
	const { status: usualStatus, ...rest } = usual;
	if (!isGiven) {
		if (call.flag("yes")) throw usage("--yes goes with a filter", "a job that you name is not asked about");
		return undefined;
	}
	const text = (name: string) => (options.has(name) ? call.text(name) : undefined);
	const since = text("since");
	const named = STATUSES.filter((status) => call.list("status").includes(status));
	const failed = options.has("failed") && call.flag("failed");
	if (failed && named.length > 0) throw usage("--failed and --status contradict each other", "give one of them");
	const status: readonly Status[] | undefined = failed ? ["failed"] : named.length > 0 ? named : usualStatus;
	return given({
		...(named.length > 0 ? {} : rest),
		status: status && [...status],
		...{ lane: text("lane"), repo: text("repo"), batch: text("batch"), owner: text("owner"), agent: text("agent") },
		since: since === undefined ? undefined : new Date(world.now() - durationOf(since, "since")).toISOString(),
	});
}

/** Jobs that are sent in one call. */
const AT_ONCE = 1000;

/** Asks for all of them, some at a time, and puts the answers together: lists are joined, of other values the first counts. */
export async function askAll<T extends object>(ids: readonly Ref[], ask: (some: Ref[]) => Promise<T>): Promise<T> {
	let all: T | undefined;
	for (let from = 0; from < ids.length; from += AT_ONCE) {
		const next = await ask(ids.slice(from, from + AT_ONCE));
		all = all === undefined ? next : joined(all, next);
	}
	if (all === undefined) throw new Error("no jobs to ask for");
	return all;
}

function joined<T extends object>(one: T, other: T): T {
	const lists = Object.entries(one).flatMap(([key, value]) => {
		const more: unknown = Reflect.get(other, key);
		return Array.isArray(value) && Array.isArray(more) ? [[key, [...value, ...more]]] : [];
	});
	return { ...one, ...Object.fromEntries(lists) };
}
