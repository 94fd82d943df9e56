// Checks the arguments of methods that are called often or take much at once, and of `openScheduler`; arguments.ts checks those of all other methods.

import type { Act, ClaimOptions, OpenOptions, RunEnd } from "../../contracts/scheduler.ts";
import { PRESETS, type PresetName } from "../../core/config.ts";
import * as check from "../../core/input/check.ts";
import { fieldsReader } from "../../core/schema/field.ts";
import { CLAIM, HOST_RUN_END } from "../../core/schema/run.ts";
import { copy } from "../../core/text/copy.ts";
import type { Claimer } from "../operations/claim.ts";

export function restamp(job: { created_at: number; runnable_at: number }, now: number, defaulted: boolean): void {
	job.created_at = now;
	if (defaulted) job.runnable_at = now;
}

const readClaim = fieldsReader(CLAIM, "claim");
const KINDS: NonNullable<ClaimOptions["kinds"]> = ["command", "agent", "payload"];

export function claimerOf(request: ClaimOptions): Claimer {
	const { worker, max = 1, lanes, kinds = KINDS, host } = check.taking("claim", () => readClaim(request, ""));
	return { worker, max, lanes, kinds, host };
}

const readRunEnd = fieldsReader(HOST_RUN_END, "ending");
export const readEnding = (ending: RunEnd): RunEnd => check.taking("ending", () => readRunEnd(ending, ""));

/** Checks the `by` and `reason` of a call. */
export function checkAct<T extends Act>(act: T | null | undefined): T | undefined {
	if (act === undefined || act === null) return undefined;
	return check.taking("options", () => {
		const { by, reason } = check.record(act, "options") as Act;
		if (by !== undefined) check.word(by, "by");
		if (reason !== undefined) check.text(reason, "reason", { max: 10_000 });
		return act;
	});
}

/** Checks the options of `openScheduler`. */
export function checkOpen(options: OpenOptions): OpenOptions {
	return check.taking("options", () => {
		const given = check.record(options, "options") as OpenOptions;
		check.knownKeys(
			given as Record<string, unknown>,
			[
				"path",
				"url",
				"preset",
				"config",
				"clock",
				"host",
				"chance",
				"by",
				"join",
				"settings",
				"drive",
				"fault",
				"piece",
				"poll_others_ms",
				"agents",
				"log",
			],
			"",
		);
		if (given.url !== undefined) {
			if (!/^postgres(?:ql)?:\/\//.test(check.text(given.url, "url", { max: 4096, lines: "one" })))
				throw check.wrong("url", "is no address of a PostgreSQL database", "postgres://user@host:5432/database");
			if (given.path !== undefined) throw check.wrong("path", "is given together with url", "give one of them: a file, or a database");
		} else if (check.text(given.path, "path", { max: 4096, lines: "one" }) === "")
			throw check.wrong("path", "is empty", 'give a file, or ":memory:" for a queue that ends with the process');
		if (given.by !== undefined) check.word(given.by, "by");
		if (given.preset !== undefined) check.oneOf(given.preset, Object.keys(PRESETS) as PresetName[], "preset");
		if (given.drive !== undefined) check.oneOf(given.drive, ["auto", "manual"], "drive");
		if (given.settings !== undefined) check.oneOf(given.settings, ["own", "shared"], "settings");
		if (given.piece !== undefined) check.integer(given.piece, "piece", 1);
		if (given.poll_others_ms !== undefined) check.integer(given.poll_others_ms, "poll_others_ms", 1, 3_600_000);
		const own: OpenOptions = { ...given };
		if (given.config !== undefined)
			own.config = copy(check.json(check.record(given.config, "config"), "config")) as NonNullable<OpenOptions["config"]>;
		if (given.join === undefined) return own;
		const join = check.record(given.join, "join") as NonNullable<OpenOptions["join"]>;
		check.knownKeys(join, ["name", "labels", "repos", "home"], "join");
		if (join.name !== undefined) check.label(join.name, "join.name");
		if (join.home !== undefined) check.word(join.home, "join.home");
		if (join.labels !== undefined) check.labels(join.labels, "join.labels");
		if (join.repos !== undefined)
			check.list(join.repos, "join.repos").forEach((repo, index) => {
				check.label(repo, `join.repos[${index}]`);
			});
		return { ...own, join: copy(join) };
	});
}
