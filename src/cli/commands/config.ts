// sluice config: get, set, unset, list, check.

import type { Setting } from "../../api/context.ts";
import type { Result } from "../../api/protocol.ts";
import { byVerb, type Call } from "../command.ts";
import { EXIT } from "../failure.ts";
import { answer, type Io } from "../io.ts";
import { printable } from "../printing/sequences.ts";
import { table } from "../printing/table.ts";

export const run = byVerb({ get, set: change, unset: change, list, check });

async function get(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("config.get", { key: call.arg("KEY") });
	const [only, ...others] = document.settings;
	answer(io, document, () => {
		// A single value is data for scripts; a group is a table.
		if (only && others.length === 0) io.print.out(valueWords(only.value));
		else printSettings(io, document.settings, "plain");
	});
}

async function change(call: Call, io: Io): Promise<undefined> {
	const document: Partial<Result<"config.set">> = await changed(call, io);
	answer(io, document, () => {
		for (const { key, value } of document.settings ?? []) io.print.say(`${key} is ${valueWords(value)}`);
		for (const note of document.notes ?? []) io.print.say(printable(note));
	});
}

async function list(call: Call, io: Io): Promise<undefined> {
	const document = await io.ask("config.list");
	answer(io, document, () => printSettings(io, document.settings, call.flag("origin") ? "origin" : "plain"));
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

function printSettings({ print }: Io, settings: readonly Setting[], how: "plain" | "origin"): void {
	const rows = settings.map(({ key, value, origin }) => [printable(key), valueWords(value), how === "origin" ? printable(origin) : ""]);
	const columns = [{ title: "KEY" }, { title: "VALUE", shrink: 16 }, { title: "FROM", shrink: 10 }];
	for (const line of table(columns, rows, print.width, (text) => print.paint("dim", text))) print.out(line);
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
