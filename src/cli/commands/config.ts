// sluice config: get, set, unset, list, check.

import type { Setting } from "../../api/context.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../failure.ts";
import { answer, type Document, type Io } from "../io.ts";
import { printable } from "../sequences.ts";
import { table } from "../table.ts";

export async function run(call: Call, io: Io): Promise<number | undefined> {
	const verb = call.command.name.split(" ")[1] as "get" | "set" | "unset" | "list" | "check";
	const { print } = io;
	switch (verb) {
		case "get": {
			const document = await io.ask("config.get", { key: call.arg("KEY") });
			const settings = document.settings as Setting[];
			const [only] = settings;
			answer(io, document, () => {
				// One value alone is data for scripts; a group is a table.
				if (settings.length === 1 && only) print.out(valueWords(only.value));
				else printSettings(io, settings, "plain");
			});
			return undefined;
		}
		case "set":
		case "unset": {
			const params: Document = { key: call.arg("KEY"), ...(verb === "set" ? { value: call.arg("VALUE") } : {}) };
			const document = await io.ask(`config.${verb}`, params);
			answer(io, document, () => {
				for (const { key, value } of document.settings as Setting[]) print.say(`${key} is ${valueWords(value)}`);
				for (const note of (document.notes as string[] | undefined) ?? []) print.say(printable(note));
			});
			return undefined;
		}
		case "list": {
			const document = await io.ask("config.list");
			answer(io, document, () => printSettings(io, document.settings as Setting[], call.flag("origin") ? "origin" : "plain"));
			return undefined;
		}
		case "check":
			return check(io);
	}
}

/** As it would stand in the file. */
export const valueWords = (value: unknown): string =>
	typeof value === "string" ? printable(value) : printable(JSON.stringify(value) ?? "null");

function printSettings({ print }: Io, settings: readonly Setting[], how: "plain" | "origin"): void {
	const rows = settings.map(({ key, value, origin }) => [printable(key), valueWords(value), how === "origin" ? printable(origin) : ""]);
	const columns = [{ title: "KEY" }, { title: "VALUE", shrink: 16 }, { title: "FROM", shrink: 10 }];
	for (const line of table(columns, rows, print.width, (text) => print.paint("dim", text))) print.out(line);
}

type Problems = { ok: boolean; problems: { code: string; message: string; hint: string | null }[] };

/** A daemon that does not run cannot start with a bad file: then the file is looked at here. */
async function check(io: Io): Promise<number | undefined> {
	const document = (await io.askIfRunning("config.check")) ?? (await (await io.world.daemon()).checkConfig(io.world.homeOf(io.home)));
	const { ok, problems } = document as Problems;
	answer(io, document, () => {
		if (ok) io.print.say("the configuration is right");
		for (const { message, hint } of problems) {
			io.print.out(printable(message));
			if (hint) io.print.out(io.print.paint("dim", `  ${printable(hint)}`));
		}
	});
	return ok ? EXIT.done : EXIT.usage;
}
