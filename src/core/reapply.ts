// What `apply` does with a manifest whose job names exist already. Pure.
//
//   its jobs                              plain                     update                                     again
//   no name exists                        add all                   add all                                    add all
//   some open, the file unchanged         nothing, and says so      nothing, and says so                       refused: still open
//   some open, the file changed           refused: update           change waiting jobs, add new ones          refused: still open
//   all ended                             refused: again            refused: again                             add all
//   none open, some ended, some new:
//     an ended job matches the file       refused: again or update  add new jobs                               add all
//     all ended jobs differ from it       add all: their names are free

import { SluiceError } from "./errors.ts";
import { isTerminal, type Status } from "./job.ts";

/** A named job of the manifest. `known`: the job with that name; `same`: the manifest's entry is unchanged since. */
export type Named = { name: string; known?: { job: number; status: Status; same: boolean } };
export type Reapply = "add_all" | "nothing" | "update";
export type ReapplyOptions = { update?: boolean | undefined; again?: boolean | undefined };

const NAMED_JOBS = 10;
const listed = (all: readonly string[]): string =>
	all.length > NAMED_JOBS ? `${all.slice(0, NAMED_JOBS).join(", ")} and ${all.length - NAMED_JOBS} more` : all.join(", ");
const refuse = (message: string, hint: string) => new SluiceError("conflict", message, { field: "manifest", hint });
const jobs = (count: number) => `${count} ${count === 1 ? "job" : "jobs"}`;

export function reapply(named: readonly Named[], { update, again }: ReapplyOptions): Reapply {
	const known = named.flatMap(({ name, known }) => (known ? [{ name, ...known }] : []));
	if (known.length === 0) return "add_all";
	const open = known.filter(({ status }) => !isTerminal(status));
	const fresh = named.filter(({ known }) => known === undefined);
	if (again) {
		if (open.length === 0) return "add_all";
		throw refuse(
			`${jobs(open.length)} of this manifest ${open.length === 1 ? "is" : "are"} still open: ${listed(open.map(shown))}`,
			"wait until they have ended, or cancel them; sluice apply FILE --update changes what waits",
		);
	}
	if (open.length > 0) return whileOpen(named, { open, fresh, update });
	if (fresh.length === 0)
		throw refuse(
			`all of it has ended: ${listed(known.map(shown))}`,
			update ? "there is nothing to change; sluice apply FILE --again runs it anew" : "sluice apply FILE --again runs it anew",
		);
	if (update) return "update";
	if (!known.some(({ same }) => same)) return "add_all";
	throw refuse(
		`${jobs(known.length)} of this manifest ${known.length === 1 ? "has" : "have"} ended (${listed(known.map(shown))}), ${fresh.length} ${fresh.length === 1 ? "is" : "are"} new (${listed(fresh.map(({ name }) => name))})`,
		"sluice apply FILE --again runs all of it anew, --update adds only what is new",
	);
}

type Open = { open: { name: string; job: number; status: Status; same: boolean }[]; fresh: readonly Named[]; update: boolean | undefined };

function whileOpen(named: readonly Named[], { open, fresh, update }: Open): Reapply {
	const changed = open.filter(({ same }) => !same);
	if (changed.length === 0 && fresh.length === 0) return "nothing";
	if (update) return "update";
	const parts = [
		...(changed.length > 0 ? [`changed: ${listed(changed.map(shown))}`] : []),
		...(fresh.length > 0 ? [`new: ${listed(fresh.map(({ name }) => name))}`] : []),
	];
	throw refuse(
		`${open.length} of ${jobs(named.length)} are open, and the manifest is not what was applied (${parts.join("; ")})`,
		"sluice apply FILE --update changes what waits, adds what is new and leaves what runs",
	);
}

const shown = ({ name, job, status }: { name: string; job: number; status: Status }) => `${name} (job ${job}, ${status})`;
