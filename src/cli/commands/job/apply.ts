// sluice apply: all jobs of a manifest, or none.

import { statSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import type { Params, Result } from "../../../api/protocol.ts";
import type { Manifest } from "../../../contracts/scheduler.ts";
import { orElse } from "../../../core/errors.ts";
import { wavesOf } from "../../../core/input/manifest.ts";
import { manifestSchemaText } from "../../../core/input/manifest-schema.ts";
import { allowedNames, capture } from "../../caller/environment.ts";
import type { Call } from "../../command.ts";
import { CliFailure, type Complaint, failureOf, usage } from "../../failure.ts";
import { absolutePath, answer, type Io, readAll, readNamed } from "../../io.ts";
import { type ManifestFile, readManifest } from "../../manifest.ts";
import { optionsOf } from "../../one-method.ts";
import { counted } from "../../printing/print.ts";
import { printable } from "../../printing/sequences.ts";
import { wrap } from "../../printing/table.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	if (call.flag("schema")) {
		io.print.out(manifestSchemaText().trimEnd());
		return undefined;
	}
	const [file] = call.args("FILE");
	if (file === undefined) throw usage("FILE is missing", "sluice apply --help shows how");
	const name = file === "-" ? "stdin" : file;
	const path = absolutePath(io.world, file);
	const text = file === "-" ? await readAll(io.world.stdin) : readNamed(io.world, file);
	const read = await readManifest(text, name);
	const folder = file === "-" ? io.world.cwd : dirname(path);
	const params: Params<"job.apply"> = {
		...optionsOf<"job.apply">(call, ["schema"]),
		// As it is written: the daemon checks it.
		manifest: placed(read.manifest, folder) as unknown as Manifest,
		env: capture(io.world.env, await allowedNames(io)),
	};
	const missing = call.flag("check") ? missingFolders(read, name, folder) : [];
	const document = await ask(io, read, { name, file }, params, missing);
	answer(io, call.flag("check") ? { ...document, waves: wavesOf(read.manifest.jobs) } : document, () =>
		call.flag("check") ? printCheck(io, read, file, document) : printApplied(io, read, document),
	);
}

type File = { name: string; file: string };

/** Errors name a field; people want the line. All mistakes are printed together, including those found here. */
async function ask(
	io: Io,
	read: ManifestFile,
	{ name, file }: File,
	params: Params<"job.apply">,
	found: readonly Complaint[],
): Promise<Applied> {
	const placedAt = ({ message, field, hint }: { message: string; field?: unknown; hint?: unknown }): Complaint => {
		const inside = typeof field === "string" ? field.replace(/^manifest\.?/, "") : "";
		const position = inside === "" ? "" : read.position(inside);
		return {
			message: position === "" ? message : `${name}${position}: ${message}`,
			hint: typeof hint === "string" ? forFile(hint, file) : undefined,
		};
	};
	let document: Applied;
	try {
		document = await io.ask("job.apply", params);
	} catch (error) {
		const { code } = failureOf(error);
		const { also = [] } = error as { also?: { message: string; field?: unknown; hint?: unknown }[] };
		const complaints = [...[error as Error, ...also].map(placedAt), ...found];
		const [first = { message: "" }, ...rest] = inLineOrder(complaints, name);
		throw new CliFailure(code, first.message, first.hint, rest);
	}
	const [first, ...rest] = found;
	if (first) throw new CliFailure("invalid", first.message, first.hint, rest);
	return document;
}

/** Sorts mistakes in the order of the file; those without a line come last. */
function inLineOrder(complaints: readonly Complaint[], name: string): Complaint[] {
	const placeIn = ({ message }: Complaint): [number, number] => {
		const [, line, column] = (message.startsWith(`${name}:`) && /^:(\d+):(\d+): /.exec(message.slice(name.length))) || [];
		return line === undefined ? [Number.MAX_SAFE_INTEGER, 0] : [Number(line), Number(column)];
	};
	return complaints
		.map((one) => ({ one, place: placeIn(one) }))
		.sort((a, b) => a.place[0] - b.place[0] || a.place[1] - b.place[1])
		.map(({ one }) => one);
}

/** The daemon does not know the file's name. */
const forFile = (hint: string, file: string): string => hint.replaceAll(" FILE", ` ${file}`);

/** Relative folders in a manifest are relative to the manifest. */
function placed(manifest: ManifestFile["manifest"], folder: string): Record<string, unknown> {
	const { defaults = {} } = manifest;
	const inFolder = (cwd: unknown) => (typeof cwd === "string" && !isAbsolute(cwd) ? resolve(folder, cwd) : cwd);
	const jobs = manifest.jobs.map((job) => (job.cwd === undefined ? job : { ...job, cwd: inFolder(job.cwd) }));
	return { ...manifest, defaults: { ...defaults, cwd: inFolder(defaults.cwd ?? folder) }, jobs };
}

/** Missing folders of jobs without predecessors: a predecessor might still create the folder. A job with a repo gets its folder from that. */
function missingFolders({ manifest, position }: ManifestFile, name: string, folder: string): Complaint[] {
	const complaints = new Map<string, Complaint>();
	for (const [index, job] of manifest.jobs.entries()) {
		const isFirst = !Array.isArray(job.after) || job.after.length === 0;
		const cwd = job.cwd ?? manifest.defaults?.cwd;
		if (!isFirst || typeof cwd !== "string" || (job.repo ?? manifest.defaults?.repo) !== undefined) continue;
		const path = resolve(folder, cwd);
		const field = job.cwd === undefined ? "defaults.cwd" : `jobs[${index}].cwd`;
		if (complaints.has(`${field}${path}`) || isFolder(path)) continue;
		complaints.set(`${field}${path}`, {
			message: `${name}${position(field)}: ${field}: there is no folder ${path}`,
			hint: `mkdir -p ${path} makes it`,
		});
	}
	return [...complaints.values()];
}

/** True where we may not look: its run may be allowed to. */
const isFolder = (path: string): boolean => orElse(() => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true, true);

/** A check answers with less, and so does an older daemon. */
type Applied = Partial<Result<"job.apply">>;

function printCheck({ print }: Io, { manifest }: ManifestFile, file: string, { refusal, warning }: Applied): void {
	wavesOf(manifest.jobs).forEach((wave, index) => {
		const [first = "", ...more] = wrap(wave.map(printable).join("  "), Math.min(print.width, 120) - 10);
		print.out(`${print.paint("dim", `wave ${index + 1}`.padEnd(8))}  ${first}`);
		for (const line of more) print.out(`${" ".repeat(10)}${line}`);
	});
	print.say(`${counted(manifest.jobs.length, "job")}: nothing is wrong, and nothing was added`);
	if (refusal) {
		print.say(`as it is, apply would refuse it: ${printable(refusal.message)}`);
		if (refusal.hint) print.say(print.paintTalk("dim", `        ${printable(forFile(refusal.hint, file))}`));
	}
	if (warning !== undefined) print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(warning)}`);
}

const WHY_SKIPPED: Record<string, string> = {
	exists: "is there, as the file says",
	ended: "has ended",
	running: "runs: left as it is, though the file says something else now",
	already_running: "works on its item already",
	duplicate: "has its unique key",
};

function printApplied(
	{ print }: Io,
	{ manifest }: ManifestFile,
	{ jobs = [], names = {}, skipped = [], updated = [], not_named = [], warning }: Applied,
): void {
	const byId = new Map(Object.entries(names).map(([name, id]) => [id, name]));
	for (const id of jobs) {
		const name = byId.get(id);
		print.out(name === undefined ? String(id) : `${id}\t${printable(name)}`);
	}
	const parts = [
		...(jobs.length > 0 ? [`${counted(jobs.length, "job")} added`] : []),
		...(updated.length > 0 ? [`${updated.length} changed`] : []),
		...(skipped.length > 0 ? [`${skipped.length} left as ${skipped.length === 1 ? "it is" : "they are"}`] : []),
	];
	print.say(jobs.length + updated.length === 0 ? `nothing to do: ${parts.join(", ") || "the manifest has no jobs"}` : parts.join(", "));
	if (jobs.length > 0 && manifest.jobs.every((job) => job.name === undefined))
		print.say(print.paintTalk("dim", "jobs without a name would be added again by the same file"));
	if (warning !== undefined) print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(warning)}`);
	const dim = (line: string) => print.say(print.paintTalk("dim", line));
	for (const one of updated) dim(`changed ${printable(one.name)}: job ${one.job}`);
	for (const one of skipped) dim(`left ${printable(one.name)}: job ${one.job} ${WHY_SKIPPED[one.reason] ?? one.reason}`);
	for (const one of not_named)
		dim(
			`not in the file: job ${one.job}${one.name === null ? "" : ` (${printable(one.name)})`} of its batch; it goes on, sluice cancel ${one.job} ends it`,
		);
}
