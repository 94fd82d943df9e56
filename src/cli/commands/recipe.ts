// sluice recipe list, show and check: how work is done.

import { basename } from "node:path";
import type { Result } from "../../api/protocol.ts";
import type { RecipeView } from "../../contracts/intake.ts";
import { byVerb, type Call } from "../command.ts";
import { EXIT } from "../failure.ts";
import { answer, type Io, readAll, readNamed } from "../io.ts";
import { asTyped, oneMethod } from "../one-method.ts";
import { printTable, titled } from "../printing/list.ts";
import { counted, pairs, plain } from "../printing/print.ts";
import { printable } from "../printing/sequences.ts";

export const run = byVerb({
	list: oneMethod("recipe.list", asTyped, ({ recipes, warning }, io) => {
		printRecipes(io, recipes);
		printWarning(io, warning);
	}),
	show: oneMethod("recipe.show", asTyped, ({ recipe, warning }, io) => {
		printRecipe(io, recipe);
		printWarning(io, warning);
	}),
	check,
});

function printRecipes(io: Io, recipes: readonly RecipeView[]): void {
	const rows = recipes.map(({ name, description, origin, steps, error }) =>
		[name, steps.length > 1 ? steps.map((step) => step.name).join(" → ") : "", origin, error ?? description.split("\n", 1)[0] ?? ""].map(
			printable,
		),
	);
	printTable(io, titled("RECIPE", "STEPS", "FROM", "DOES"), rows);
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
function printWarning({ print }: Io, warning: string | undefined): void {
	if (warning !== undefined) print.warn(`${print.paintTalk("yellow", "warning:")} ${printable(warning)}`);
}

async function check(call: Call, io: Io): Promise<number> {
	const files: { file: string; ok: boolean; problems: Result<"recipe.check">["problems"] }[] = [];
	for (const file of call.args("FILE")) {
		const text = file === "-" ? await readAll(io.world.stdin) : readNamed(io.world, file);
		const name = basename(file === "-" ? "stdin" : file).replace(/\.ya?ml$/, "");
		const { ok, problems } = await io.ask("recipe.check", { text, name });
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
