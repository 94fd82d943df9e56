// sluice stats: figures of a span of time, with a line for each group.

import type { StatsDocument } from "../../api/protocol/stats.ts";
import type { Params } from "../../api/protocol.ts";
import { dollars } from "../../core/ledger.ts";
import type { Call } from "../command.ts";
import { usage } from "../failure.ts";
import type { Io } from "../io.ts";
import { oneMethod } from "../one-method.ts";
import { type ListColumn, listLines, right } from "../printing/list.ts";
import { printable } from "../printing/sequences.ts";
import { durationOf, durationWords, localTime, timeOf } from "../times.ts";

type Group = StatsDocument["groups"][number];
type Figures = StatsDocument["total"];

const BY = ["lane", "agent", "model", "owner", "repo", "account", "cause"] as const;
/** Most marks of a trend: a year has more days than a terminal has columns. */
const TREND = 14;
const GROUP_TREND = 10;
const LEVELS = "▁▂▃▄▅▆▇█";

export const run = oneMethod("stats.show", paramsOf, printStats);

function paramsOf(call: Call, { world }: Io): Params<"stats.show"> {
	const at = (name: "since" | "until") => {
		const value = call.text(name);
		return value === undefined ? undefined : pastTime(value, name, world.now());
	};
	return { since: at("since"), until: at("until"), per: call.choice("by", BY), bucket: call.choice("bucket", ["hour", "day"]) };
}

/** `7d` is seven days ago; else a date, with a time perhaps. */
function pastTime(value: string, name: string, now: number): string {
	const hint = "for example 24h, 7d (365d at most), 2026-01-31, 2026-01-31T08:00";
	if (/^\d[\d.]*(?:ms|s|m|h|d)/.test(value)) return new Date(Math.max(0, now - durationOf(value, name))).toISOString();
	if (!/^\d{4}-\d\d-\d\d/.test(value)) throw usage(`--${name}: ${JSON.stringify(value)} is no time in the past`, hint);
	const at = timeOf(value, name, now);
	if (Date.parse(at) > now) throw usage(`--${name}: ${JSON.stringify(value)} has not come yet`, hint);
	return at;
}

function printStats(found: StatsDocument, io: Io): string | undefined {
	const { print } = io;
	const { total, series, per } = found;
	if (found.known_since === null) return "nothing has run yet: figures begin with the first start";
	print.out(`${localTime(Date.parse(found.since))} – ${localTime(Date.parse(found.until))}, by ${found.bucket}`);
	if (found.known_since > found.since) print.out(print.paint("dim", `counted since ${localTime(Date.parse(found.known_since))}`));
	for (const [title, words, values] of summary(found))
		print.out(`  ${title.padEnd(8)}${trend(values).padEnd(TREND + 2)}${printable(words)}`);
	if (found.groups.length === 0) return undefined;
	print.out("");
	const lines = per === "cause" ? listLines(io, found.groups, causeColumns(total)) : listLines(io, found.groups, columnsOf(per));
	for (const line of lines) print.out(line);
	if (per !== "cause" && total.ended === 0 && series.slot_ms.every((ms) => ms === 0)) return "nothing ran in this time";
	return undefined;
}

/** Lines about all work: a title, words, and the values over time. */
function summary({ total, waits, series }: StatsDocument): [string, string, readonly (number | null)[]][] {
	const ends = (["failed", "cancelled", "blocked_by_dependency", "expired"] as const).filter((status) => total[status] > 0);
	const how = ends.map((status) => `${total[status]} ${status === "blocked_by_dependency" ? "blocked" : status}`);
	const causes = Object.entries(waits)
		.slice(0, 3)
		.map(([code, ms]) => `${code} ${percent(ms / total.wait_ms)}`);
	return [
		["Ended", [`${total.ended} ${total.ended === 1 ? "job" : "jobs"}`, ...how].join(", "), series.ended],
		["Retried", total.retry_rate === null ? "no run ended" : `${percent(total.retry_rate)} of ${total.runs} runs`, series.retry_rate],
		["Waited", [durationWords(total.wait_ms), ...causes].join(", "), series.wait_ms],
		["Start", startWords(total), series.start_p90_ms],
		["Slots", slotWords(total), series.slots_used],
		["Cost", dollars(total.cost_micro), series.cost_micro],
	];
}

const percent = (share: number): string => `${Math.round(100 * share)} %`;

const startWords = ({ start_p50_ms, start_p90_ms }: Figures): string =>
	start_p50_ms === null || start_p90_ms === null
		? "nothing started"
		: `p50 ${durationWords(start_p50_ms)}, p90 ${durationWords(start_p90_ms)} from ready to started`;

const slotWords = ({ slots_used, slots, utilisation }: Figures): string =>
	slots === null || utilisation === null
		? `${slots_used.toFixed(2)} in use`
		: `${slots_used.toFixed(2)} of ${slots} in use, ${percent(utilisation)}`;

/** Values as bars of one character each; several values share a bar where there is no room. An empty one was zero. */
export function trend(values: readonly (number | null)[], most = TREND): string {
	const share = Math.max(1, Math.ceil(values.length / most));
	const bars: number[] = [];
	for (let index = 0; index < values.length; index += share)
		bars.push(values.slice(index, index + share).reduce<number>((sum, value) => sum + (value ?? 0), 0));
	const highest = Math.max(...bars, 0);
	if (highest === 0) return "";
	return bars.map((value) => (value === 0 ? "·" : (LEVELS[Math.min(7, Math.floor((8 * value) / highest))] ?? ""))).join("");
}

const nameOf = (name: string | null): string => (name === null ? "–" : printable(name));

const columnsOf = (by: string): readonly ListColumn<Group>[] => [
	{ title: by.toUpperCase(), shrink: 8, most: 16, cell: ({ name }) => nameOf(name) },
	{ title: "ENDED", ...right, cell: ({ total }) => String(total.ended) },
	{ title: "FAILED", ...right, cell: ({ total: { failed } }, io) => (failed === 0 ? "" : io.print.paint("red", String(failed))) },
	{ title: "RETRY", ...right, cell: ({ total: { retry_rate } }) => (retry_rate ? percent(retry_rate) : "") },
	{ title: "WAITED", ...right, cell: ({ total: { wait_ms } }) => (wait_ms === 0 ? "" : durationWords(wait_ms)) },
	{ title: "SLOTS", ...right, cell: ({ total: { slots_used } }) => (slots_used === 0 ? "" : slots_used.toFixed(2)) },
	{ title: "USED", ...right, cell: ({ total: { utilisation } }) => (utilisation === null ? "" : percent(utilisation)) },
	{ title: "COST", ...right, cell: ({ total: { cost_micro } }) => (cost_micro === 0 ? "" : dollars(cost_micro)) },
	{ title: "TREND", cell: ({ series }) => trend(series.ended, GROUP_TREND) },
];

const causeColumns = ({ wait_ms }: Figures): readonly ListColumn<Group>[] => [
	{ title: "CAUSE", cell: ({ name }) => nameOf(name) },
	{ title: "WAITED", ...right, cell: ({ total }) => durationWords(total.wait_ms) },
	{ title: "SHARE", ...right, cell: ({ total }) => percent(total.wait_ms / wait_ms) },
	{ title: "", cell: ({ total }) => "█".repeat(Math.max(1, Math.round((20 * total.wait_ms) / wait_ms))) },
	{ title: "TREND", cell: ({ series }) => trend(series.wait_ms, GROUP_TREND) },
];
