// sluice source and sluice recipe: which work there is, and how it is done.

import { readFileSync } from "node:fs";
import { basename } from "node:path";
import type { ItemView, RecipeView, SourceView } from "../../contracts/intake.ts";
import type { ItemFault } from "../../contracts/source.ts";
import type { Call } from "../command.ts";
import { CliFailure, EXIT, usage } from "../failure.ts";
import { type AnswerDocument, absolutePath, answer, type Io, readAll } from "../io.ts";
import { counted, pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";

export async function run(call: Call, io: Io): Promise<number | undefined> {
	switch (call.command.name) {
		case "source list": {
			const document = await io.ask("source.list");
			answer(io, document, () => printSources(io, document.sources as SourceView[]));
			return undefined;
		}
		case "source show": {
			const document = await io.ask("source.show", { name: call.arg("NAME"), ...(call.flag("all") ? { all: true } : {}) });
			answer(io, document, () => printItems(io, document as unknown as { source: SourceView; items: ItemView[] }));
			return undefined;
		}
		case "source scan": {
			const [name] = call.args("NAME");
			const document = await io.ask("source.scan", name === undefined ? {} : { name });
			answer(io, document, () => {
				printSources(io, document.sources as SourceView[]);
				const added = document.added as number[];
				io.print.say(added.length === 0 ? "nothing was added" : `added: ${added.join(", ")}`);
			});
			return undefined;
		}
		case "recipe list": {
			const document = await io.ask("recipe.list", repoOf(call));
			answer(io, document, () => {
				printRecipes(io, document.recipes as RecipeView[]);
				printWarning(io, document);
			});
			return undefined;
		}
		case "recipe show": {
			const document = await io.ask("recipe.show", { name: call.arg("NAME"), ...repoOf(call) });
			answer(io, document, () => {
				printRecipe(io, document.recipe as RecipeView);
				printWarning(io, document);
			});
			return undefined;
		}
		default:
			return check(call, io);
	}
}

const repoOf = (call: Call) => (call.has("repo") ? { repo: call.text("repo") } : {});

function printTable({ print }: Io, titles: readonly string[], rows: readonly (readonly string[])[]): void {
	const columns = titles.map((title, index) => (index === titles.length - 1 ? { title, shrink: 12 } : { title }));
	for (const line of table(columns, rows, print.width, (text) => print.paint("dim", text))) print.out(line);
}

function printSources(io: Io, sources: readonly SourceView[]): void {
	if (sources.length === 0) {
		io.print.say("no sources; sources.<name> in the configuration makes one");
		return;
	}
	const rows = sources.map(({ name, kind, items, open, eligible, faults, watch, root }) =>
		[name, kind, plain(items), plain(open), plain(eligible), String(faults.filter(isFault).length || ""), watch ? "watched" : "", root].map(
			printable,
		),
	);
	printTable(io, ["SOURCE", "KIND", "ITEMS", "OPEN", "ELIGIBLE", "FAULTS", "", "ROOT"], rows);
	for (const source of sources) printFaults(io, source);
}

function printFaults({ print }: Io, { error, faults }: SourceView): void {
	if (error !== null) print.warn(`${print.paintTalk("red", "sluice:")} ${printable(error)}`);
	for (const { message, hint } of faults.filter(isFault)) {
		print.warn(`${print.paintTalk("yellow", "fault:")} ${printable(message)}`);
		if (hint !== null) print.warn(print.paintTalk("dim", `       ${printable(hint)}`));
	}
	printDeferred(print, faults);
}

/** An item that the queue's hard limit keeps out has no fault itself. */
const isFault = ({ code }: ItemFault): boolean => code !== "deferred";

/** Maximum ids that are named; a full queue may keep out hundreds. */
const NAMED = 10;

function printDeferred(print: Io["print"], faults: readonly ItemFault[]): void {
	const kept = faults.filter((one) => !isFault(one));
	const [first] = kept;
	if (first === undefined) return;
	const ids = kept.slice(0, NAMED).map(({ id }) => id ?? "?");
	const more = kept.length > NAMED ? ` and ${kept.length - NAMED} more` : "";
	print.warn(
		`${print.paintTalk("yellow", "stays:")} ${printable(`${ids.join(", ")}${more}: ${first.message.slice(first.place.length + 2)}`)}`,
	);
	if (first.hint !== null) print.warn(print.paintTalk("dim", `       ${printable(first.hint)}`));
}

function printItems(io: Io, { source, items }: { source: SourceView; items: ItemView[] }): void {
	const rows = items.map((item) =>
		[item.id, item.kind, item.status, item.phase ?? "", item.flow ?? "", stateOf(item), item.title].map(printable),
	);
	if (rows.length > 0) printTable(io, ["ITEM", "KIND", "STATUS", "PHASE", "FLOW", "", "TITLE"], rows);
	else if (source.error === null) io.print.say("no open items; --all shows the closed ones");
	printFaults(io, source);
}

const stateOf = ({ eligible, held, blocked_by, in_progress, members, open }: ItemView): string => {
	if (!open) return "closed";
	if (held !== null) return `not ready: ${held}`;
	if (blocked_by.length > 0) return `blocked by ${blocked_by.join(", ")}`;
	if (members.length > 0) return `holds ${counted(members.length, "item")}`;
	return in_progress ? "in progress" : eligible ? "eligible" : "";
};

function printRecipes(io: Io, recipes: readonly RecipeView[]): void {
	const rows = recipes.map(({ name, description, origin, steps, error }) =>
		[name, steps.length > 1 ? steps.map((step) => step.name).join(" → ") : "", origin, error ?? description.split("\n", 1)[0] ?? ""].map(
			printable,
		),
	);
	printTable(io, ["RECIPE", "STEPS", "FROM", "DOES"], rows);
}

function printRecipe({ print }: Io, { name, description, origin, vars, steps }: RecipeView): void {
	print.out(`${print.paint("bold", printable(name))}  ${print.paint("dim", printable(origin))}`);
	if (description !== "") print.out(printable(description));
	for (const one of vars) {
		const usual = one.default === null ? (one.required ? "required" : "optional") : `default ${JSON.stringify(one.default)}`;
		const fits = one.pattern === null ? "" : `, fits ${one.pattern}`;
		print.out(
			`  --var ${printable(one.name)}=…  ${print.paint("dim", printable(`${usual}${fits}${one.about === "" ? "" : `: ${one.about}`}`))}`,
		);
	}
	for (const step of steps) {
		print.out("");
		const after = step.after.map((one) => (one.policy === "success" ? one.step : `${one.step}:${one.policy}`)).join(", ");
		if (step.name !== "")
			print.out(`${print.paint("bold", printable(step.name))}${after === "" ? "" : print.paint("dim", `  after ${printable(after)}`)}`);
		const rows = Object.entries(step.template).map(([key, value]) => [key, plain(value).replaceAll("\n", "\n  ")] as const);
		for (const line of pairs(rows, print.paint)) print.out(`  ${line}`);
	}
}

/** Why the repo's own recipes are not in force. */
function printWarning({ print }: Io, { warning }: AnswerDocument): void {
	if (typeof warning === "string") print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(warning)}`);
}

type Checked = { ok: boolean; problems: { message: string; hint: string | null }[] };

async function check(call: Call, io: Io): Promise<number> {
	const files: { file: string; ok: boolean; problems: Checked["problems"] }[] = [];
	for (const file of call.args("FILE")) {
		const text = file === "-" ? await readAll(io.world.stdin) : readFile(absolutePath(io.world, file), file);
		const name = basename(file === "-" ? "stdin" : file).replace(/\.ya?ml$/, "");
		const { ok, problems } = (await io.ask("recipe.check", { text, name })) as unknown as Checked;
		files.push({ file, ok, problems });
	}
	const ok = files.every((one) => one.ok);
	answer(io, { schema_version: 1, ok, files }, () => {
		for (const { file, problems } of files)
			for (const { message, hint } of problems) {
				io.print.out(`${printable(file)}: ${printable(message)}`);
				if (hint) io.print.out(io.print.paint("dim", `  ${printable(hint)}`));
			}
		if (ok) io.print.say(`${counted(files.length, "recipe")}: nothing is wrong`);
	});
	return ok ? EXIT.done : EXIT.usage;
}

function readFile(path: string, file: string): string {
	try {
		return readFileSync(path, "utf8");
	} catch (error) {
		const { code, message } = error as NodeJS.ErrnoException;
		throw code === "ENOENT" ? new CliFailure("not_found", `there is no file ${file}`) : usage(message);
	}
}
