// sluice up: starts the daemon, in the foreground or background, or installs it as a service.

import { isDatabase } from "../../../core/text/store-address.ts";
import type { Call } from "../../command.ts";
import { addressOf, codeFor, signInLink } from "../../dashboard-link.ts";
import { CliFailure, usage } from "../../failure.ts";
import { absolutePath, answer, type Io } from "../../io.ts";
import { printable } from "../../printing/sequences.ts";

export async function run(call: Call, io: Io): Promise<number | undefined> {
	const options = {
		home: io.world.homeOf(io.home),
		port: portOf(call.text("port")),
		store: storeIn(call.text("store"), io),
		name: call.text("name"),
		labels: call.list("label"),
		...(call.flag("accept-loss") ? { loss: "accept" as const } : {}),
	};
	const daemon = await io.world.daemon();
	if (call.flag("install")) {
		const lines = await daemon.install(options);
		answer(io, { schema_version: 1, installed: true, notes: lines }, () => {
			for (const line of lines) io.print.say(line);
		});
		return undefined;
	}
	const running = await io.askIfRunning("scheduler.version");
	// In the foreground this process would have to be the daemon; in the background a running one is fine.
	if (running && !call.flag("detach"))
		throw new CliFailure("conflict", `the daemon runs already, pid ${running.pid}`, "sluice status talks to it, sluice down stops it");
	if (running) {
		answer(io, { schema_version: 1, started: false, daemon: running }, () => io.print.say(`the daemon runs already, pid ${running.pid}`));
		return undefined;
	}
	if (!call.flag("detach"))
		return daemon.serve({
			...options,
			ready: ({ port, httpProblem, signInCode }) => printAddress(io, port, httpProblem, () => signInCode("admin")),
		});
	await daemon.start(options);
	const started = await io.ask("scheduler.version");
	const port = typeof started.port === "number" ? started.port : null;
	const code = !io.json && port !== null && isSeen(io) ? (await codeFor(io, "admin")).code : "";
	answer(io, { schema_version: 1, started: true, daemon: started }, () => {
		io.print.say(`the daemon runs, pid ${started.pid}, home ${started.home}`);
		printAddress(io, port, typeof started.http_problem === "string" ? started.http_problem : null, () => code);
	});
	return undefined;
}

/** A link that signs in is only for the person at the terminal: anything else may be a log that other people read. */
const isSeen = ({ world }: Io): boolean => world.stderr.isTTY === true;

function printAddress(io: Io, port: number | null, problem: string | null, codeOf: () => string): void {
	if (problem !== null) io.print.say(printable(problem));
	if (port === null) return;
	if (isSeen(io)) io.print.say(`dashboard: ${signInLink(port, codeOf())}`);
	else io.print.say(`dashboard: ${addressOf(port)} (sluice open prints a link that signs in)`);
}

/** A relative path is relative to the caller's folder. */
const storeIn = (text: string | undefined, { world }: Io): string | undefined =>
	text === undefined || isDatabase(text) ? text : absolutePath(world, text);

function portOf(text: string | undefined): number | null | undefined {
	if (text === undefined || text === "none") return text === undefined ? undefined : null;
	if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw usage(`--port must be from 0 to 65535, or none, not ${JSON.stringify(text)}`);
	return Number(text);
}
