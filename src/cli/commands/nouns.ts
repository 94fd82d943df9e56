// `list` of lanes, accounts, budgets, locks, artifacts, repos and hosts, with the columns of each.

import type { Call } from "../command.ts";
import { answer, type Io } from "../io.ts";
import { plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { type TableColumn, table } from "../printing/table.ts";
import { instantOf, relative } from "../times.ts";
import { dollars } from "./noun-set.ts";
import { gauge } from "./scheduler/status.ts";

type Row = Record<string, unknown>;
type Listed = { of: string; empty: string; columns: readonly (TableColumn & { cell(row: Row, io: Io): string })[] };

const right = { align: "right" } as const;
const field = (name: string, title = name.toUpperCase().replaceAll("_", " ")) => ({
	title,
	shrink: 8,
	cell: (row: Row) => plain(row[name]),
});
const count = (name: string, title = name.toUpperCase()) => ({ title, ...right, cell: (row: Row) => plain(row[name]) });
const cap = (name: string, title: string) => ({ title, ...right, cell: (row: Row) => (row[name] === null ? "–" : plain(row[name])) });
const time = (name: string, title: string) => ({
	title,
	cell: (row: Row, io: Io) => {
		const at = instantOf(row[name]);
		return at === undefined ? "" : relative(at, io.world.now());
	},
});

/** Money in dollars, other values unchanged. */
const amount = (value: unknown, dim: unknown) => (dim === "cost_micro" && typeof value === "number" ? dollars(value) : plain(value));

const LISTS: Record<string, Listed> = {
	lane: {
		of: "lanes",
		empty: "no lanes",
		columns: [
			field("name", "LANE"),
			count("queued"),
			count("running"),
			cap("max", "MAX"),
			{
				title: "",
				cell: ({ running, max }, io) => (typeof max === "number" && max > 0 ? io.print.paint("cyan", gauge(Number(running), max)) : ""),
			},
			count("priority", "BASE"),
			field("accounts"),
			{
				title: "HOURS",
				shrink: 8,
				cell: ({ active_hours, timezone }) => (plain(active_hours) === "" ? "" : `${plain(active_hours)} ${plain(timezone)}`.trim()),
			},
		],
	},
	account: {
		of: "accounts",
		empty: "no accounts; accounts.<name> in the configuration makes one, and agents without one have their own",
		columns: [
			field("name", "ACCOUNT"),
			{ title: "STATE", cell: ({ state }, io) => io.print.paint(state === "open" ? "green" : "yellow", plain(state).replaceAll("_", " ")) },
			time("since", "SINCE"),
			time("until", "ENDS"),
			count("running"),
			cap("max", "MAX"),
			field("lanes"),
			field("by"),
			field("reason"),
		],
	},
	budget: {
		of: "budgets",
		empty: "no budgets; sluice budget grant makes one",
		columns: [
			field("subject"),
			field("dim", "DIMENSION"),
			{
				title: "USED",
				...right,
				cell: ({ used, dim, over_limit }, io) => (over_limit ? io.print.paint("red", amount(used, dim)) : amount(used, dim)),
			},
			{ title: "RUNNING", ...right, cell: ({ reserved, dim }) => (reserved ? amount(reserved, dim) : "") },
			{ title: "LIMIT", ...right, cell: ({ limit, dim }) => (limit === null ? "–" : amount(limit, dim)) },
			{
				title: "",
				...right,
				cell: ({ used, limit }) => (typeof limit === "number" && limit > 0 ? `${Math.round((100 * Number(used)) / limit)} %` : ""),
			},
			{ title: "WINDOW", cell: ({ window }) => (window === null || window === undefined ? "" : `each ${plain(window)}`) },
			{ title: "THEN", cell: ({ on_breach }) => (on_breach === "stop" ? "stop runs" : "") },
		],
	},
	lock: {
		of: "locks",
		empty: "no lock is held",
		columns: [
			field("key", "LOCK"),
			{
				title: "HELD BY",
				shrink: 12,
				cell: ({ holders }) =>
					((holders ?? []) as { job: number; mode: string }[])
						.map(({ job, mode }) => `${job}${mode === "shared" ? " (shared)" : ""}`)
						.join(", "),
			},
			field("reserved_for", "KEPT FOR"),
		],
	},
	artifact: {
		of: "artifacts",
		empty: "no artifact is known",
		columns: [
			field("artifact"),
			field("repo"),
			{
				title: "STATE",
				cell: ({ present, error }, io) =>
					error
						? io.print.paint("red", printable(String(error)))
						: present === null
							? "unknown"
							: present
								? io.print.paint("green", "present")
								: io.print.paint("yellow", "missing"),
			},
			time("observed_at", "SEEN"),
		],
	},
	repo: {
		of: "repos",
		empty: "no repos; sluice repo add registers one",
		columns: [
			field("name", "REPO"),
			{ title: "PLACE", shrink: 12, cell: ({ path, url }) => plain(path ?? url ?? "") },
			{ title: "HOSTS", cell: ({ hosts }) => plain(hosts) },
			field("base"),
			field("merge"),
			cap("max", "MAX"),
			{ title: "WORKTREES", ...right, cell: ({ worktrees }) => String((worktrees as unknown[]).length) },
			{ title: "SLUICE.YML", cell: ({ file }) => (file === "none" ? "" : plain(file)) },
			{ title: "RECIPES", cell: ({ recipes = "none" }) => (recipes === "none" ? "" : plain(recipes)) },
			{
				title: "STATE",
				shrink: 12,
				cell: ({ problem, busy }, io) =>
					problem ? io.print.paint("red", plain(problem)) : busy ? io.print.paint("yellow", `in the middle of a ${plain(busy)}`) : "ok",
			},
		],
	},
	host: {
		of: "hosts",
		empty: "no hosts",
		columns: [
			field("name", "HOST"),
			{
				title: "STATE",
				cell: ({ state, gone }, io) =>
					io.print.paint(state === "live" ? "green" : "yellow", gone ? `${plain(state)} (${plain(gone)})` : plain(state)),
			},
			count("running"),
			cap("max", "MAX"),
			field("labels"),
			time("heartbeat_at", "SEEN"),
		],
	},
};

export async function run(call: Call, io: Io): Promise<undefined> {
	const noun = call.command.name.split(" ")[0] as string;
	const listed = LISTS[noun] as Listed;
	const document = await io.ask(`${noun}.list`);
	answer(io, document, () => {
		const rows = (document[listed.of] ?? []) as Row[];
		if (rows.length === 0) return io.print.say(listed.empty);
		const cells = rows.map((row) => listed.columns.map((column) => column.cell(row, io)));
		for (const line of table(listed.columns, cells, io.print.width, (text) => io.print.paint("dim", text))) io.print.out(line);
		for (const { trust_problem } of rows)
			if (typeof trust_problem === "string") io.print.warn(`${io.print.paintTalk("yellow", "warning:")} ${plain(trust_problem)}`);
	});
	return undefined;
}
