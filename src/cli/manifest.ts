// Reads a manifest as written: YAML or JSON, with the line of every mistake.

import { messageOf, orElse } from "../core/errors.ts";
import { expandAll } from "../core/input/manifest.ts";
import { JsonText, readJson, writeJson } from "../core/text/json-text.ts";
import { CliFailure, type Complaint, failureOf } from "./failure.ts";

export type ManifestFile = {
	/** In the engine's form: a list of jobs, with `for_each` expanded. */
	manifest: { jobs: Record<string, unknown>[]; defaults?: Record<string, unknown>; batch?: string } & Record<string, unknown>;
	/** `:3:7`, the position of a field such as `jobs[2].lane` or `jobs.build.lane`; empty if it is not in the file. */
	position(field: string): string;
};

const MAX_CHARACTERS = 50_000_000;
const wrong = (message: string, hint?: string) => new CliFailure("invalid", message, hint);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export async function readManifest(text: string, name: string): Promise<ManifestFile> {
	if (text.length > MAX_CHARACTERS) throw wrong(`${name}: is ${text.length} characters long; the limit is ${MAX_CHARACTERS}`);
	// Loaded here, so that no other command pays for it.
	const yaml = { ...(await import("yaml")), ...(await import("../host/yaml-bounds.ts")) };
	// JSON is YAML, but JSON.parse is many times faster; positions are computed only after a mistake.
	const quick = /^\s*\{/.test(text) ? parseJson(text) : undefined;
	const { value, position } = quick
		? { value: quick, position: (path: Path) => readYaml(yaml, text, name).position(path) }
		: readYaml(yaml, text, name);
	if (!isObject(value) || value.jobs === undefined || value.jobs === null)
		throw wrong(`${name} has no \`jobs:\``, "a manifest has `jobs`, and perhaps `defaults` and `batch`");
	const { jobs } = value;
	const byName = isObject(jobs);
	if (!byName && !Array.isArray(jobs)) throw wrong(`${name}${position(["jobs"])}: jobs must be a list, or a map by name`);
	const names = byName ? Object.keys(jobs) : [];
	const faults: Complaint[] = [];
	const given = byName ? names.map((key): [string | number, unknown] => [key, jobs[key]]) : [...(jobs as unknown[]).entries()];
	const list = given.map(([key, job]): Record<string, unknown> => {
		if (isObject(job)) return typeof key === "string" ? { ...job, name: job.name ?? key } : job;
		const field = typeof key === "string" ? `jobs.${key}` : `jobs[${key}]`;
		faults.push({
			message: `${name}${position(["jobs", key])}: ${field} must be keys and values`,
			hint: "such as {command: [make, test]}",
		});
		return {};
	});
	const nameAt = (job: string) =>
		byName ? names.findIndex((key, index) => key === job || list[index]?.name === job) : list.findIndex((one) => one.name === job);
	const written = (field: string, origin: (index: number) => number) => {
		const path = pathOf(field);
		if (path[0] === "jobs" && path.length > 1) {
			const index = typeof path[1] === "number" ? origin(path[1]) : nameAt(String(path[1]));
			path[1] = byName ? (names[index] ?? "") : index;
		}
		return position(path);
	};
	const expanded = expandAll(list, (error) => {
		const { message, hint } = failureOf(error);
		faults.push({ message: `${name}${written(String((error as { field?: unknown }).field ?? ""), (index) => index)}: ${message}`, hint });
	});
	throwAll(faults);
	return {
		manifest: { ...value, jobs: expanded.map(({ job }) => job) },
		position: (field) => written(field, (index) => expanded[index]?.from ?? index),
	};
}

/** The keys and values of a file that describes one thing. An empty file has none. */
export async function readFields(text: string, name: string): Promise<Record<string, unknown>> {
	if (text.length > MAX_CHARACTERS) throw wrong(`${name}: is ${text.length} characters long; the limit is ${MAX_CHARACTERS}`);
	const yaml = { ...(await import("yaml")), ...(await import("../host/yaml-bounds.ts")) };
	const { value } = readYaml(yaml, text, name);
	if (value === null || value === undefined) return {};
	if (!isObject(value)) throw wrong(`${name} must have keys and values`, "such as `priority: 5`");
	return value;
}

function throwAll([first, ...rest]: readonly Complaint[]): void {
	if (first) throw new CliFailure("invalid", first.message, first.hint, rest);
}

type Path = (string | number)[];

/** `jobs[2].retry.max` → jobs, 2, retry, max */
function pathOf(field: string): Path {
	return [...field.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key ?? "") : Number(index)));
}

const parseJson = (text: string): unknown => orElse(() => readJson(text), undefined);

/** Converts integers to JavaScript numbers; a payload with an integer that is too large stays text, so that nothing is lost. */
function withNumbers(value: unknown, where: "outside" | "payload" = "outside"): unknown {
	if (typeof value === "bigint") {
		const number = Number(value);
		return where === "outside" || Number.isSafeInteger(number) ? number : new JsonText(String(value));
	}
	if (Array.isArray(value)) return value.map((one) => withNumbers(one, where));
	if (!isObject(value)) return value;
	return Object.fromEntries(
		Object.entries(value).map(([key, one]) => {
			if (key !== "payload" || where === "payload") return [key, withNumbers(one, where)];
			const payload = withNumbers(one, "payload");
			return [key, hasText(payload) ? new JsonText(writeJson(payload)) : payload];
		}),
	);
}

const hasText = (value: unknown): boolean =>
	value instanceof JsonText || (typeof value === "object" && value !== null && Object.values(value).some(hasText));

function readYaml(
	{
		LineCounter,
		parseDocument,
		repeatedKeyMessage,
		repeatedKeys,
		YAML_OPTIONS,
	}: typeof import("yaml") & typeof import("../host/yaml-bounds.ts"),
	text: string,
	name: string,
): { value: unknown; position(path: Path): string } {
	const lines = new LineCounter();
	const document = parseDocument(text, { ...YAML_OPTIONS, lineCounter: lines, intAsBigInt: true });
	const at = (offset: number | undefined) => {
		if (offset === undefined) return "";
		const { line, col } = lines.linePos(offset);
		return `:${line}:${col}`;
	};
	const repeated = repeatedKeys(document.contents).map(({ key, offset }) => ({
		code: "DUPLICATE_KEY",
		message: repeatedKeyMessage(key),
		pos: [offset],
	}));
	const flaws = [document.errors, repeated, document.warnings].find((some) => some.length > 0) ?? [];
	throwAll(
		flaws.map((flaw) => ({
			message: `${name}${at(flaw.pos[0])}: ${flaw.message}`,
			hint: flaw.code === "TAB_AS_INDENT" ? "indent with spaces" : undefined,
		})),
	);
	try {
		return {
			value: withNumbers(document.toJS({ maxAliasCount: 1000 })),
			/** The position of the deepest part of the path that is in the file. */
			position(path) {
				for (let length = path.length; length > 0; length--) {
					const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] | null } | undefined;
					if (node?.range) return at(node.range[0]);
				}
				return "";
			},
		};
	} catch (error) {
		throw wrong(`${name}: ${messageOf(error)}`);
	}
}
