// sluice config: get, set, unset, list, check.

import type { Setting } from "../../api/context.ts";
import type { Call } from "../command.ts";
import { EXIT } from "../failure.ts";
import { type AnswerDocument, answer, type Io } from "../io.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";

export async function run(call: Call, io: Io): Promise<number | undefined> {
	const verb = call.command.name.split(" ")[1] as "get" | "set" | "unset" | "list" | "check";
	const { print } = io;
	switch (verb) {
		case "get": {
			const document = await io.ask("config.get", { key: call.arg("KEY") });
			const settings = document.settings as Setting[];
			const [only] = settings;
			answer(io, document, () => {
				// A single value is data for scripts; a group is a table.
				if (settings.length === 1 && only) print.out(valueWords(only.value));
				else printSettings(io, settings, "plain");
			});
			return undefined;
		}
		case "set":
		case "unset": {
			const document = await change(call, io, verb);
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

/**
 * Settings that apply from the next start only: no daemon is started to change them, and with a queue that has moved, one might not even be able to start.
 */
const NEXT_START = /^(?:store|port|host(?:\.|$))/;

async function change(call: Call, io: Io, verb: "set" | "unset"): Promise<AnswerDocument> {
	const key = String(call.arg("KEY"));
	const value = verb === "set" ? String(call.arg("VALUE")) : undefined;
	const params: AnswerDocument = { key, ...(value === undefined ? {} : { value }) };
	if (!NEXT_START.test(key)) return io.ask(`config.${verb}`, params);
	const home = io.world.homeOf(io.home);
	return (await io.askIfRunning(`config.${verb}`, params)) ?? (await io.world.daemon()).changeConfig(home, key, value);
}

/** As written in the file. */
export const valueWords = (value: unknown): string =>
	typeof value === "string" ? printable(value) : printable(JSON.stringify(value) ?? "null");

function printSettings({ print }: Io, settings: readonly Setting[], how: "plain" | "origin"): void {
	const rows = settings.map(({ key, value, origin }) => [printable(key), valueWords(value), how === "origin" ? printable(origin) : ""]);
	const columns = [{ title: "KEY" }, { title: "VALUE", shrink: 16 }, { title: "FROM", shrink: 10 }];
	for (const line of table(columns, rows, print.width, (text) => print.paint("dim", text))) print.out(line);
}

type Problems = { ok: boolean; problems: { code: string; message: string; hint: string | null }[] };

/** A stopped daemon cannot start with an invalid file: then the file is checked here. */
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
