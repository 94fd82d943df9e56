// sluice doctor: what could be wrong on this machine. Works without a daemon, which may itself be the problem.

import { RpcError } from "../../api/client.ts";
import type { Checkup } from "../../api/context.ts";
import type { Result } from "../../api/protocol.ts";
import { ALLOWED } from "../../core/input/environment.ts";
import { isDatabase } from "../../core/text/store-address.ts";
import { asCaller } from "../caller/agents.ts";
import { keyHints, toolNote } from "../caller/handed-over.ts";
import type { Call } from "../command.ts";
import { CliFailure, EXIT, failureOf, usage } from "../failure.ts";
import { answer, type Io } from "../io.ts";
import { printable } from "../printing/sequences.ts";
import { pad } from "../printing/table.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const store = call.text("store");
	if (store !== undefined && !isDatabase(store))
		throw usage(`--store must be the URL of a database, not ${JSON.stringify(store)}`, "postgres://user@host:5432/database");
	const running = await io.askIfRunning("doctor.run").catch(unreached);
	const here = async () => (await io.world.daemon()).doctor(io.world.homeOf(io.home), store);
	const found = store === undefined && running !== undefined && "schema_version" in running ? running : withDaemon(await here(), running);
	const checks = await withCaller(found.checks, io);
	const document = { ...found, checks };
	const { print } = io;
	answer(io, document, () => {
		const width = Math.max(0, ...checks.map((check) => check.name.length));
		for (const { name, ok, optional, detail, hint } of checks) {
			const mark = optional ? print.paint("dim", "–  ") : ok ? print.paint("green", "ok ") : print.paint("red", "BAD");
			print.out(`${mark}  ${pad(name, width)}  ${printable(detail)}`);
			if (hint) print.out(`     ${pad("", width)}  ${print.paint("dim", `→ ${printable(hint)}`)}`);
		}
	});
	return checks.every((check) => check.ok) ? EXIT.done : EXIT.failed;
}

/** A daemon that cannot be reached is at least part of the problem: run the other checks from here. */
const unreached = (error: unknown): { checks: Checkup[] } => {
	const { message, hint } = failureOf(error);
	// The daemon answered, and knows the caller: it takes the caller for a run.
	if (error instanceof RpcError && error.code === "unauthorised" && error.field === undefined)
		throw new CliFailure(
			error.code,
			"doctor is for the owner of this home, outside of runs",
			"nothing was checked; type sluice doctor in a shell that no run has started",
		);
	return { checks: [{ name: "socket", ok: false, detail: message, ...(hint === undefined ? {} : { hint }) }] };
};

/** Checks that only the home's daemon can make; left out if they run from here. */
const ITS_OWN = ["socket", "http", "clock"];

function withDaemon(document: Result<"doctor.run">, running: { checks: Checkup[] } | undefined): Result<"doctor.run"> {
	if (!running) return document;
	const ofDaemon = new Map(running.checks.map((check) => [check.name, check]));
	const checks = document.checks.map((check) => (ITS_OWN.includes(check.name) && ofDaemon.get(check.name)) || check);
	return { ...document, ok: checks.every((check) => check.ok), checks };
}

/** Adds what the caller's shell has and runs do not get. Asks only a running daemon: without one, the checks used the caller's environment already. */
async function withCaller(checks: readonly Checkup[], io: Io): Promise<Checkup[]> {
	const listed = await io.askIfRunning("agent.list").catch(() => undefined);
	const agents = listed?.agents ?? [];
	const noted = checks.map((check) => {
		const agent = agents.find(({ name }) => check.name === `agent ${name}`);
		const found = agent && asCaller(agent, io.world.env);
		if (found?.note !== undefined) return { ...check, ok: true, detail: `${found.path}: ${found.note}`, hint: undefined };
		const [hint] = agent && agent.logged_in === false ? keyHints(agent, io.world.env) : [];
		return hint === undefined ? check : { ...check, hint };
	});
	const settings = (await io.askIfRunning("config.get", { key: "env" }).catch(() => undefined))?.settings;
	const allowed = settings?.[0]?.value;
	const note = toolNote(io.world.env, Array.isArray(allowed) ? allowed.map(String) : ALLOWED);
	return note === null ? noted : [...noted, note];
}
