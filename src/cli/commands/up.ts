// sluice up: starts the daemon, here or in the background, or makes it a service.

import { isDatabase } from "../../core/store-address.ts";
import type { Call } from "../command.ts";
import { dashboardLink } from "../dashboard-link.ts";
import { CliFailure, usage } from "../failure.ts";
import { answer, type Io, placeOf } from "../io.ts";
import { printable } from "../sequences.ts";

export async function run(call: Call, io: Io): Promise<number | undefined> {
	const options = {
		home: io.world.homeOf(io.home),
		port: portOf(call.text("port")),
		store: storeIn(call.text("store"), io),
		name: call.text("name"),
		labels: call.list("label"),
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
	// In the foreground it would be this one that serves; in the background it does not matter whose it is.
	if (running && !call.flag("detach"))
		throw new CliFailure("conflict", `the daemon runs already, pid ${running.pid}`, "sluice status talks to it, sluice down stops it");
	if (running) {
		answer(io, { schema_version: 1, started: false, daemon: running }, () => io.print.say(`the daemon runs already, pid ${running.pid}`));
		return undefined;
	}
	const tellLink = (home: string, port: number | null, problem: string | null) => {
		if (problem !== null) io.print.say(printable(problem));
		const link = dashboardLink(home, port, "operator");
		if (link !== null) io.print.say(`dashboard: ${link}`);
	};
	if (!call.flag("detach")) return daemon.serve({ ...options, ready: ({ home, port, httpProblem }) => tellLink(home, port, httpProblem) });
	await daemon.start(options);
	const started = await io.ask("scheduler.version");
	answer(io, { schema_version: 1, started: true, daemon: started }, () => {
		io.print.say(`the daemon runs, pid ${started.pid}, home ${started.home}`);
		const problem = typeof started.http_problem === "string" ? started.http_problem : null;
		tellLink(String(started.home), typeof started.port === "number" ? started.port : null, problem);
	});
	return undefined;
}

/** A path is meant from where the caller is. */
const storeIn = (text: string | undefined, { world }: Io): string | undefined =>
	text === undefined || isDatabase(text) ? text : placeOf(world, text);

function portOf(text: string | undefined): number | null | undefined {
	if (text === undefined || text === "none") return text === undefined ? undefined : null;
	if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) throw usage(`--port must be from 0 to 65535, or none, not ${JSON.stringify(text)}`);
	return Number(text);
}
