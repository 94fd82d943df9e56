// sluice list: jobs, grouped by repo.

import type { StatusDocument } from "../../../api/documents/status.ts";
import type { Params } from "../../../api/protocol.ts";
import type { ReadyEntry } from "../../../contracts/scheduler.ts";
import { given } from "../../../core/given.ts";
import { STATUSES } from "../../../core/job.ts";
import { fieldHint, JOB_FIELDS } from "../../../core/job-fields.ts";
import { addTo } from "../../../core/text/lists-by-key.ts";
import type { Call } from "../../command.ts";
import { usage } from "../../failure.ts";
import { answer, type Io, settingOf } from "../../io.ts";
import { cellOf, columnOf, hasEnded, isHeldBack, LIST_FIELDS, labelOf, type ShownJob } from "../../printing/job-lines.ts";
import { ENTRY_COLUMNS } from "../../printing/kernel-lines.ts";
import { printList } from "../../printing/list.ts";
import { withLockWords } from "../../printing/lock-words.ts";
import { pairs } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { failureWords } from "../../printing/status-lines.ts";
import { bounded, table } from "../../printing/table.ts";

const PAGE = 1000;
const ON_SCREEN = 500;
/** The maximum of one answer. */
const ENTRIES = 10_000;

export async function run(call: Call, io: Io): Promise<undefined> {
	const statuses = STATUSES.filter((status) => call.list("status").includes(status));
	const filter: Filter = {
		...(statuses.length > 0 ? { status: statuses } : {}),
		...given({ lane: call.text("lane"), repo: call.text("repo"), batch: call.text("batch"), all: call.flag("all") || undefined }),
	};
	const wish = call.number("limit");
	if (wish !== undefined && wish < 0) throw usage("--limit must not be negative", "0 shows all");
	const limit = (wish ?? (io.world.stdout.isTTY && !io.json ? ON_SCREEN : 0)) || Number.POSITIVE_INFINITY;
	// Of ended jobs, the latest matter.
	const end = call.flag("all") || statuses.some((status) => hasEnded({ id: 0, status })) ? "last" : "first";
	const { jobs, more } = await collect(io, filter, limit, end);
	const wanted = await wantedFields(call, io, "list");
	const fields = fieldsOf(wanted, jobs, LIST_FIELDS);
	const seen = io.json || !(fields.includes("remark") || call.text("format") === "block") ? jobs : await withLockWords(io, jobs);
	// An older daemon, or a run without permission, leaves out fields.
	const status: Partial<StatusDocument> = await io.ask("scheduler.status", {}).catch(() => ({}));
	const kernel = await kernelEntries(io, filter, limit, status);
	const isOpen = !(filter.all || filter.status);
	const unmerged = io.json || !isOpen ? [] : await unmergedJobs(io, filter, status);
	const recent_failures = isOpen ? status.recent_failures : undefined;
	const shown = call.has("fields") ? jobs.map((job) => only(job, fields)) : jobs;
	answer(io, { schema_version: 1, jobs: shown, kernel, recent_failures }, () => {
		if (call.text("format") === "block") printBlocks(io, seen, wanted === undefined ? undefined : fields);
		else printGroups(io, seen, fields);
		if (kernel && kernel.total > 0) printKernel(io, kernel, jobs.length);
		else if (jobs.length === 0) io.print.say(emptyWords(call));
		const failures = ["lane", "repo", "batch"].some((name) => call.has(name)) || !isOpen ? "" : failureWords(status);
		if (failures !== "") io.print.say(io.print.paintTalk("red", failures));
		if (unmerged.length > 0) io.print.say(io.print.paintTalk("yellow", unmergedLine(unmerged)));
		if (io.world.stdout.isTTY && fields.includes("status") && jobs.some(isHeldBack))
			io.print.say(io.print.paintTalk("dim", "! waits for more than its turn; sluice why ID says for what"));
		if (more) io.print.say(io.print.paintTalk("dim", `only the ${end} ${jobs.length} are shown; --limit 0 shows all`));
	});
}

type Filter = Params<"job.list">;
type Kernel = { entries: ReadyEntry[]; total: number };

/** Entries of the kernel's queue, beside the jobs; with `--all` also ended ones. None if a filter selects only jobs, or if the kernel is switched off. */
async function kernelEntries(
	io: Io,
	{ all, ...narrowed }: Filter,
	limit: number,
	{ kernel }: Partial<StatusDocument>,
): Promise<Kernel | undefined> {
	const isAsked = io.json || all === true || (kernel !== undefined && kernel.queued + kernel.dispatched > 0);
	if (!isAsked || Object.keys(narrowed).length > 0) return undefined;
	const most = Math.min(limit, ENTRIES);
	const found: Kernel = { entries: [], total: 0 };
	for (const state of all ? [undefined] : ["queued", "dispatched"]) {
		const page = await io.ask("kernel.sched.list", { limit: most, ...given({ state }) }).catch(() => undefined);
		if (page === undefined) return undefined;
		found.entries.push(...page.entries);
		found.total += page.total;
	}
	found.entries = found.entries.sort((a, b) => a.sched_id - b.sched_id).slice(0, most);
	return found;
}

function printKernel(io: Io, { entries, total }: Kernel, jobs: number): void {
	if (jobs > 0) io.print.out("");
	io.print.out(io.print.paint("bold", "kernel"));
	printList(io, entries, ENTRY_COLUMNS, "");
	if (entries.length < total)
		io.print.say(io.print.paintTalk("dim", `${entries.length} of ${total} entries; sluice kernel list --offset N shows others`));
}

/** Ended jobs are in no row, but these need a person. */
async function unmergedJobs(io: Io, filter: Filter, { unmerged = [] }: Partial<StatusDocument>): Promise<ShownJob[]> {
	if (unmerged.length === 0) return [];
	const { jobs } = await io.ask("job.list", { ids: unmerged.map(({ job }) => job), limit: PAGE });
	return jobs.filter((job) =>
		(["lane", "repo", "batch"] as const).every((name) => filter[name] === undefined || job[name] === filter[name]),
	);
}

const NAMED_JOBS = 5;
function unmergedLine(jobs: readonly ShownJob[]): string {
	const rest = jobs.length > NAMED_JOBS ? ` and ${jobs.length - NAMED_JOBS} more` : "";
	return `not merged, and needs you: ${jobs.slice(0, NAMED_JOBS).map(labelOf).join(", ")}${rest}; sluice status says why`;
}

const emptyWords = (call: Call) =>
	["status", "lane", "repo", "batch"].some((name) => call.has(name))
		? "no such jobs"
		: call.flag("all")
			? "no jobs yet; add one: sluice add -- make test"
			: "nothing waits and nothing runs; --all shows what has ended";

/** Page by page, so that no answer gets too long; forwards, or with a limit backwards from the latest. */
async function collect(io: Io, filter: Filter, limit: number, end: "first" | "last"): Promise<{ jobs: ShownJob[]; more: boolean }> {
	const back = end === "last" && Number.isFinite(limit);
	let all: ShownJob[] = [];
	let place: { before: number } | { after: number } = back ? { before: Number.MAX_SAFE_INTEGER } : { after: 0 };
	while (all.length <= limit) {
		const want = Math.min(PAGE, limit - all.length + 1);
		const { jobs } = await io.ask("job.list", { ...filter, limit: want, ...place });
		if (back) all = [...jobs, ...all];
		else all.push(...jobs);
		const next = jobs.at(back ? 0 : -1);
		if (next === undefined || jobs.length < want) break;
		place = back ? { before: next.id } : { after: next.id };
	}
	return { jobs: back ? all.slice(-limit) : all.slice(0, limit), more: all.length > limit };
}

/** The fields of `--fields`, else of the setting; `from` names the source for an error. JSON has all fields unless some were requested. */
type Wanted = { fields: string[]; from: string };

export async function wantedFields(call: Call, io: Io, which: "list" | "show"): Promise<Wanted | undefined> {
	const given = call.text("fields");
	if (given !== undefined) return { fields: given.split(",").map((field) => field.trim()), from: "--fields" };
	if (io.json) return undefined;
	const key = `display.${which}`;
	const set = await settingOf(io, key);
	return Array.isArray(set) && set.length > 0 ? { fields: set.map(String), from: `the setting ${key}` } : undefined;
}

export function fieldsOf(wanted: Wanted | undefined, jobs: readonly ShownJob[], usual: readonly string[]): readonly string[] {
	if (wanted === undefined) return usual;
	const { fields, from } = wanted;
	// A daemon of another version may have more fields.
	const unknown = fields.find((field) => !JOB_FIELDS.includes(field) && !jobs.some((job) => Object.hasOwn(job, field)));
	if (unknown !== undefined) throw usage(`${from}: there is no field ${JSON.stringify(unknown)}`, fieldHint(unknown));
	return fields;
}

const only = (job: ShownJob, fields: readonly string[]) =>
	Object.fromEntries(
		fields.filter((field) => Object.hasOwn(job, field)).map((field) => [field, new Map<string, unknown>(Object.entries(job)).get(field)]),
	);

function printGroups({ print, world }: Io, jobs: readonly ShownJob[], fields: readonly string[]): void {
	const groups = new Map<string, ShownJob[]>();
	for (const job of jobs) addTo(groups, job.repo ?? "", job);
	const titled = groups.size > 1 || !groups.has("");
	// One table, so that columns are aligned across all groups; the titles are inserted afterwards.
	const ordered = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
	const rows = ordered.flatMap(([, group]) => group.map((job) => fields.map((field) => cellOf(field, job, print.paint, world.now()))));
	const [head, ...lines] = jobs.length === 0 ? [] : table(fields.map(columnOf), rows, print.width, (text) => print.paint("dim", text));
	if (head !== undefined) print.out(head);
	for (const [repo, group] of ordered) {
		if (titled) print.out(print.paint("bold", repo === "" ? "(no repo)" : printable(repo)));
		for (const line of lines.splice(0, group.length)) print.out(line);
	}
}

const BLOCK = ["status", "subject", "lane", "repo", "batch", "priority", "after", "locks", "created_at", "remark"];

function printBlocks({ print, world }: Io, jobs: readonly ShownJob[], fields: readonly string[] | undefined): void {
	jobs.forEach((job, index) => {
		if (index > 0) print.out("");
		print.out(print.paint("bold", `${job.id}${job.name ? ` ${printable(job.name)}` : ""}`));
		const shown = (fields ?? BLOCK).filter((field) => field !== "id" && field !== "name");
		const rows = shown.map((field) => {
			const value = cellOf(field, job, print.paint, world.now()).trim();
			return [field === "subject" ? "what" : field, bounded(value, print.width)] as const;
		});
		for (const line of pairs(rows, print.paint)) print.out(`  ${line}`);
	});
}
