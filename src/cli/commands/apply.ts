// sluice apply: all jobs of a manifest, or none.

import { readFileSync } from "node:fs";
import { dirname, isAbsolute, resolve } from "node:path";
import { wavesOf } from "../../core/manifest.ts";
import { manifestSchemaText } from "../../core/manifest-schema.ts";
import type { Call } from "../command.ts";
import { allowedNames, capture } from "../environment.ts";
import { CliFailure, failureOf, usage } from "../failure.ts";
import { answer, type Document, type Io, placeOf, readAll } from "../io.ts";
import { type ManifestFile, readManifest } from "../manifest.ts";
import { counted } from "../print.ts";
import { printable } from "../sequences.ts";
import { wrap } from "../table.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	if (call.flag("schema")) {
		io.print.out(manifestSchemaText().trimEnd());
		return undefined;
	}
	const [file] = call.args("FILE");
	if (file === undefined) throw usage("FILE is missing", "sluice apply --help shows how");
	const name = file === "-" ? "stdin" : file;
	const path = placeOf(io.world, file);
	const text = file === "-" ? await readAll(io.world.stdin) : readFile(path, file);
	const read = await readManifest(text, name);
	const captured = capture(io.world.env, await allowedNames(io));
	const manifest = placed(read.manifest, file === "-" ? io.world.cwd : dirname(path), captured);
	const flags = { ...(call.flag("check") ? { check: true } : {}), ...(call.flag("force") ? { force: true } : {}) };
	const document = await ask(io, read, name, { manifest, ...flags });
	answer(io, call.flag("check") ? { ...document, waves: wavesOf(read.manifest.jobs) } : document, () => tell(call, io, read, document));
	return undefined;
}

function readFile(path: string, file: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw code === "ENOENT"
			? new CliFailure("not_found", `there is no file ${file}`)
			: usage(code === "EISDIR" ? `${file} is a folder` : message);
	}
}

/** Refusals name a field; people want the line. */
async function ask(io: Io, read: ManifestFile, name: string, params: Document): Promise<Document> {
	try {
		return await io.ask("job.apply", params);
	} catch (error) {
		const { field } = error as { field?: unknown };
		const inside = typeof field === "string" ? field.replace(/^manifest\.?/, "") : "";
		const position = inside === "" ? "" : read.position(inside);
		if (position === "") throw error;
		const { code, message, hint } = failureOf(error);
		throw new CliFailure(code, `${name}${position}: ${message}`, hint);
	}
}

/** Folders and variables of the caller: once in the defaults, and into each job that has variables of its own. */
function placed(manifest: ManifestFile["manifest"], folder: string, captured: Record<string, string>): Document {
	const { defaults = {} } = manifest;
	const inFolder = (cwd: unknown) => (typeof cwd === "string" && !isAbsolute(cwd) ? resolve(folder, cwd) : cwd);
	const isMap = (value: unknown): value is Record<string, string> => typeof value === "object" && value !== null && !Array.isArray(value);
	const env = isMap(defaults.env) ? { ...captured, ...defaults.env } : (defaults.env ?? captured);
	const jobs = manifest.jobs.map((job) => ({
		...job,
		...(job.cwd === undefined ? {} : { cwd: inFolder(job.cwd) }),
		...(isMap(job.env) && isMap(env) ? { env: { ...env, ...job.env } } : {}),
	}));
	return { ...manifest, defaults: { ...defaults, cwd: inFolder(defaults.cwd ?? folder), env }, jobs };
}

function tell(call: Call, io: Io, read: ManifestFile, document: Document): void {
	const { print } = io;
	const {
		jobs = [],
		names = {},
		skipped = [],
	} = document as {
		jobs?: number[];
		names?: Record<string, number>;
		skipped?: { name: string; job: number; reason: string }[];
	};
	if (call.flag("check")) {
		wavesOf(read.manifest.jobs).forEach((wave, index) => {
			const [first = "", ...more] = wrap(wave.map(printable).join("  "), Math.min(print.width, 120) - 10);
			print.out(`${print.paint("dim", `wave ${index + 1}`.padEnd(8))}  ${first}`);
			for (const line of more) print.out(`${" ".repeat(10)}${line}`);
		});
		print.say(`${counted(read.manifest.jobs.length, "job")}: nothing is wrong, and nothing was added`);
	} else {
		const byId = new Map(Object.entries(names).map(([name, id]) => [id, name]));
		for (const id of jobs) print.out(byId.has(id) ? `${id}\t${printable(byId.get(id) as string)}` : String(id));
		print.say(`${counted(jobs.length, "job")} added${skipped.length > 0 ? `, ${skipped.length} skipped` : ""}`);
	}
	if (!call.flag("check") && read.manifest.jobs.some((job) => job.name === undefined))
		print.say(print.paintTalk("dim", "jobs without a name would be added again by the same file"));
	if (typeof document.warning === "string") print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(document.warning)}`);
	for (const one of skipped) print.say(print.paintTalk("dim", `skipped ${one.name}: job ${one.job} ${one.reason}`));
}
