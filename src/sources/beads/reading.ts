// Reads one beads database: through `bd`, in two or three calls however many issues there are, or from `.beads/issues.jsonl` if bd is not installed.

import { stat } from "node:fs/promises";
import { join } from "node:path";
import type { ItemFault } from "../../contracts/source.ts";
import { isObject, objectIn } from "../../core/agents/stream/json.ts";
import { messageOf, SluiceError } from "../../core/errors.ts";
import { readPlainFile } from "../../host/plain-file.ts";
import { type Bd, issuesIn } from "./bd.ts";
import { isConvoy } from "./issue.ts";
import { faultOf, type Snapshot, snapshotOf, type Values } from "./snapshot.ts";

/** Ids per call: well below the limit of a command line. */
const IDS_PER_CALL = 200;

type Raw = { id: string; value: Record<string, unknown> };

/** A hundred thousand issues are about 100 MB. */
const MAX_BEADS = 64_000_000;

export function createReading(source: string, root: string, bd: Bd): () => Promise<Snapshot> {
	let file: { stamp: string; snapshot: Snapshot } | undefined;

	return async () => {
		const values = await throughBd(bd);
		return values === null ? fromFile() : snapshotOf(source, root, values);
	};

	async function fromFile(): Promise<Snapshot> {
		const path = join(root, ".beads", "issues.jsonl");
		let stamp: string;
		let text: string;
		try {
			const { mtimeNs, size, ino } = await stat(path, { bigint: true });
			stamp = `${ino} ${mtimeNs} ${size}`;
			if (file?.stamp === stamp) return file.snapshot;
			text = new TextDecoder("utf-8", { fatal: true }).decode(await readPlainFile(path, MAX_BEADS));
		} catch (error) {
			const said = error instanceof TypeError ? `${path} is not UTF-8` : messageOf(error);
			throw new SluiceError("not_found", `source ${source}: ${said}`, { field: "root", hint: "is bd installed, or the root right?" });
		}
		const snapshot = snapshotOf(source, root, linesOf(source, path, text));
		file = { stamp, snapshot };
		return snapshot;
	}
}

function linesOf(source: string, path: string, text: string): Values {
	const faults: ItemFault[] = [];
	const values = text.split("\n").flatMap((line, index) => {
		if (line.trim() === "") return [];
		try {
			const value: unknown = JSON.parse(line);
			return [value];
		} catch {
			faults.push(faultOf(source, null, `${path}:${index + 1}`, new SluiceError("invalid", "is not JSON")));
			return [];
		}
	});
	return { values, faults };
}

/** Null if bd is not installed. */
async function throughBd(bd: Bd): Promise<Values | null> {
	const listed = await bd.ask(["list", "--json", "--all", "--limit", "0"]);
	if (listed === null) return null;
	const values = issuesIn(listed);
	const ready = new Set(issuesIn(await bd.ask(["ready", "--json", "--limit", "0"])).flatMap((one) => rawOf(one)?.id ?? []));
	return { values: await withDependencies(bd, values, ready), faults: [], ready };
}

function rawOf(value: unknown): Raw | undefined {
	return isObject(value) && typeof value.id === "string" ? { id: value.id, value } : undefined;
}

/**
 * `bd list` prints the dependency records of an issue as stored; an issue without any lacks the key. If a version leaves the records out, `dep list` is
 * called: with several ids it prints the stored records, including those on issues of other databases. With one id, and in `show`, bd leaves those out, so
 * a single id is passed twice.
 */
async function withDependencies(bd: Bd, values: unknown[], ready: ReadonlySet<string>): Promise<unknown[]> {
	const raws = values.flatMap((value) => rawOf(value) ?? []);
	if (raws.some(({ value }) => value.dependencies !== undefined)) return values;
	const wanted = raws.filter((raw) => mayDepend(raw, ready)).map(({ id }) => id);
	const found = new Map<string, unknown[]>();
	for (let at = 0; at < wanted.length; at += IDS_PER_CALL)
		for (const [id, dependencies] of await recordsOf(bd, wanted.slice(at, at + IDS_PER_CALL))) found.set(id, dependencies);
	return values.map((value) => {
		const dependencies = found.get(rawOf(value)?.id ?? "");
		return dependencies !== undefined && isObject(value) ? { ...value, dependencies } : value;
	});
}

/** `dependency_count` counts only `blocks`: convoys have none, and issues that wait for another reason are not in `bd ready`. */
function mayDepend({ id, value }: Raw, ready: ReadonlySet<string>): boolean {
	const { dependency_count, issue_type, labels, status } = value;
	if (isConvoy(String(issue_type), Array.isArray(labels) ? labels.map(String) : [])) return true;
	return dependency_count === undefined || dependency_count !== 0 || (status === "open" && !ready.has(id));
}

async function recordsOf(bd: Bd, ids: readonly string[]): Promise<Map<string, unknown[]>> {
	const several = ids.length === 1 ? [...ids, ...ids] : ids;
	const found = new Map<string, unknown[]>();
	try {
		for (const one of issuesIn(await bd.ask(["dep", "list", ...several, "--json"]))) {
			const { issue_id } = objectIn(one);
			if (typeof issue_id !== "string") continue;
			const records = found.get(issue_id);
			if (records) records.push(one);
			else found.set(issue_id, [one]);
		}
	} catch (error) {
		// This version's `dep list` takes only one id. Read whole issues instead; they lack dependencies on other databases.
		if (!(error instanceof SluiceError) || !error.message.includes("accepts 1 arg")) throw error;
		for (const one of issuesIn(await bd.ask(["show", ...ids, "--json"]))) {
			const raw = rawOf(one);
			if (raw && Array.isArray(raw.value.dependencies)) found.set(raw.id, raw.value.dependencies);
		}
	}
	return found;
}
