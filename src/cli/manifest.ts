// A manifest as it is written: YAML or JSON, with the line of every mistake.

import { CliFailure } from "./failure.ts";

export type ManifestFile = {
	/** As the engine takes it: jobs as a list. */
	manifest: { jobs: Record<string, unknown>[]; defaults?: Record<string, unknown>; batch?: string } & Record<string, unknown>;
	/** `:3:7`, where a field such as `jobs[2].lane` or `jobs.build.lane` is written; empty when it is not. */
	position(field: string): string;
};

const MOST = 50_000_000;
const wrong = (message: string, hint?: string) => new CliFailure("invalid", message, hint);
const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

export async function readManifest(text: string, name: string): Promise<ManifestFile> {
	if (text.length > MOST) throw wrong(`${name}: ${text.length} characters, at most ${MOST}`);
	// Loaded here, so that no other command pays for it.
	const yaml = await import("yaml");
	// JSON is YAML, but JSON.parse is many times faster; positions are worked out only when something is wrong.
	const quick = /^\s*\{/.test(text) ? parseJson(text) : undefined;
	const { value, position } = quick
		? { value: quick, position: (path: Path) => readYaml(yaml, text, name).position(path) }
		: readYaml(yaml, text, name);
	if (!isObject(value)) throw wrong(`${name}: must be keys and values`, "a manifest has `jobs`, and perhaps `defaults` and `batch`");
	const { jobs } = value;
	const byName = isObject(jobs);
	if (!byName && !Array.isArray(jobs)) throw wrong(`${name}${position(["jobs"])}: jobs must be a list, or a map by name`);
	const names = byName ? Object.keys(jobs) : [];
	const list = byName
		? names.map((key) => {
				const job = jobs[key];
				if (!isObject(job)) throw wrong(`${name}${position(["jobs", key])}: jobs.${key} must be keys and values`);
				return { ...job, name: job.name ?? key };
			})
		: (jobs as unknown[]).map((job, index) => {
				if (!isObject(job)) throw wrong(`${name}${position(["jobs", index])}: jobs[${index}] must be keys and values`);
				return job;
			});
	const nameAt = (job: string) =>
		byName ? names.findIndex((key, index) => key === job || list[index]?.name === job) : list.findIndex((one) => one.name === job);
	return {
		manifest: { ...value, jobs: list },
		position(field) {
			const path = pathOf(field);
			if (path[0] === "jobs" && path.length > 1) {
				const index = typeof path[1] === "number" ? path[1] : nameAt(String(path[1]));
				path[1] = byName ? (names[index] ?? "") : index;
			}
			return position(path);
		},
	};
}

type Path = (string | number)[];

/** `jobs[2].retry.max` → jobs, 2, retry, max */
function pathOf(field: string): Path {
	return [...field.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index === undefined ? (key as string) : Number(index)));
}

function parseJson(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function readYaml(
	{ LineCounter, parseDocument }: typeof import("yaml"),
	text: string,
	name: string,
): { value: unknown; position(path: Path): string } {
	const lines = new LineCounter();
	const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
	const at = (offset: number | undefined) => {
		if (offset === undefined) return "";
		const { line, col } = lines.linePos(offset);
		return `:${line}:${col}`;
	};
	const flaw = document.errors[0] ?? document.warnings[0];
	if (flaw) throw wrong(`${name}${at(flaw.pos[0])}: ${flaw.message}`, flaw.code === "TAB_AS_INDENT" ? "indent with spaces" : undefined);
	try {
		return {
			value: document.toJS({ maxAliasCount: 1000 }),
			/** The deepest part of the path that is written down. */
			position(path) {
				for (let length = path.length; length > 0; length--) {
					const node = document.getIn(path.slice(0, length), true) as { range?: [number, number, number] | null } | undefined;
					if (node?.range) return at(node.range[0]);
				}
				return "";
			},
		};
	} catch (error) {
		throw wrong(`${name}: ${(error as Error).message}`);
	}
}

/** Jobs in the order in which they could run: each wave waits only for earlier ones. Names that are not in the file count as there. */
export function wavesOf(jobs: readonly Record<string, unknown>[]): string[][] {
	const label = (job: Record<string, unknown>, index: number) => String(job.name ?? `jobs[${index}]`);
	const known = new Map(jobs.map((job, index) => [label(job, index), index]));
	const waits = jobs.map((job) =>
		(Array.isArray(job.after) ? job.after : []).flatMap((one): number[] => {
			const ref = isObject(one) ? one.job : one;
			const text = String(ref);
			const found = known.get(text) ?? known.get(text.replace(/:(?:success|failure|any|merged)$/, ""));
			return found === undefined ? [] : [found];
		}),
	);
	const wave: number[] = [];
	const waves: string[][] = [];
	let left = jobs.map((_, index) => index);
	for (let number = 0; left.length > 0; number++) {
		const now = left.filter((index) => (waits[index] as number[]).every((one) => (wave[one] ?? number) < number));
		if (now.length === 0) break;
		for (const index of now) wave[index] = number;
		waves.push(now.map((index) => label(jobs[index] as Record<string, unknown>, index)));
		left = left.filter((index) => wave[index] === undefined);
	}
	return waves;
}
