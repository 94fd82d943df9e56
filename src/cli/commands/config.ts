// sluice config: get, set, unset, list, check.

import type { Setting } from "../../api/context.ts";
import type { Result } from "../../api/protocol.ts";
import { byVerb, type Call } from "../command.ts";
import { EXIT } from "../failure.ts";
import { answer, type Io } from "../io.ts";
import { asTyped, nothing, oneMethod } from "../one-method.ts";
import { printTable } from "../printing/list.ts";
import { printable } from "../printing/sequences.ts";

export const run = byVerb({
	get: oneMethod("config.get", asTyped, ({ settings }, io) => {
		const [only, ...others] = settings;
		// A single value is data for scripts; a group is a table.
		if (only && others.length === 0) return [valueWords(only.value)];
		return printSettings(io, settings, "plain");
	}),
	set: change,
	unset: change,
	list: oneMethod("config.list", nothing, ({ settings }, io, call) =>
		printSettings(io, settings, call.flag("origin") ? "origin" : "plain"),
	),
	check,
});

async function change(call: Call, io: Io): Promise<undefined> {
	const document: Partial<Result<"config.set">> = await changed(call, io);
	answer(io, document, () => {
		for (const { key, value } of document.settings ?? []) io.print.say(`${key} is ${valueWords(value)}`);
		for (const note of document.notes ?? []) io.print.say(printable(note));
	});
}

/**
 * Settings that apply from the next start only: no daemon is started to change them, and with a queue that has moved, one might not even be able to start.
 */
const NEXT_START = /^(?:store|port|host(?:\.|$))/;

async function changed(call: Call, io: Io): Promise<Result<"config.set">> {
	const key = call.arg("KEY");
	const value = call.command.name === "config set" ? call.arg("VALUE") : undefined;
	if (!NEXT_START.test(key)) return value === undefined ? io.ask("config.unset", { key }) : io.ask("config.set", { key, value });
	const running = await (value === undefined ? io.askIfRunning("config.unset", { key }) : io.askIfRunning("config.set", { key, value }));
	return running ?? (await io.world.daemon()).changeConfig(io.world.homeOf(io.home), key, value);
}

/** As written in the file. */
export const valueWords = (value: unknown): string =>
	typeof value === "string" ? printable(value) : printable(JSON.stringify(value) ?? "null");

function printSettings(io: Io, settings: readonly Setting[], how: "plain" | "origin"): undefined {
	const rows = settings.map(({ key, value, origin }) => [printable(key), valueWords(value), how === "origin" ? printable(origin) : ""]);
	printTable(io, [{ title: "KEY" }, { title: "VALUE", shrink: 16 }, { title: "FROM", shrink: 10 }], rows);
}

/** A stopped daemon cannot start with an invalid file: then the file is checked here. */
async function check(_call: Call, io: Io): Promise<number | undefined> {
	const document = (await io.askIfRunning("config.check")) ?? (await (await io.world.daemon()).checkConfig(io.world.homeOf(io.home)));
	const { ok, problems } = document;
	answer(io, document, () => {
		if (ok) io.print.say("the configuration is right");
		for (const { message, hint } of problems) {
			io.print.out(printable(message));
			if (hint) io.print.out(io.print.paint("dim", `  ${printable(hint)}`));
		}
	});
	return ok ? EXIT.done : EXIT.usage;
}
