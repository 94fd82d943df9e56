// Commands that are one method of the daemon: what each asks for, and what it prints for people.

import type { MethodName, Params, Result } from "../api/protocol.ts";
import type { Call, CommandRun } from "./command.ts";
import { answer, type Io, idOf } from "./io.ts";

/** `show` prints for people, or returns what is printed: a message in one line, or lines of data. `exit` is the exit code, where that is not always 0. */
export const oneMethod =
	<M extends MethodName>(
		method: M,
		params: (call: Call, io: Io) => Params<M> | Promise<Params<M>>,
		show: (document: Result<M>, io: Io, call: Call) => string | readonly string[] | undefined,
		exit?: (document: Result<M>) => number,
	): CommandRun =>
	async (call, io) => {
		const ask: (method: M, params: Params<M>) => Promise<Result<M>> = io.ask;
		const document = await ask(method, await params(call, io));
		answer(io, document, () => {
			const text = show(document, io, call);
			if (typeof text === "string") io.print.say(text);
			else for (const line of text ?? []) io.print.out(line);
		});
		return exit?.(document);
	};

export const nothing = () => ({});
/** The options that are parameters of the method, by the same name: `--base-branch` is `base_branch`. */
export function optionsOf<M extends MethodName>(call: Call, except: readonly string[] = []): Partial<Params<M>> {
	const names = (call.command.options ?? []).map(({ name }) => name).filter((name) => !except.includes(name));
	return Object.fromEntries(names.map((name) => [name.replaceAll("-", "_"), call.value(name)])) as Partial<Params<M>>;
}
/** All arguments and options are parameters by the same name: `NAME` is `name`. The daemon checks them. */
export const asTyped = (call: Call): never => {
	const args = (call.command.args ?? []).map(({ name }) => [name.toLowerCase(), call.args(name)[0]]);
	return { ...Object.fromEntries(args), ...optionsOf(call) } as never;
};
/** Of a command with the argument NAME. */
export const named = (call: Call) => ({ name: call.arg("NAME") });
/** Of a command about one job, whose options are parameters. */
export const ofJob = (call: Call) => ({ ...(optionsOf(call) as object), id: idOf(call.arg("ID")) });
