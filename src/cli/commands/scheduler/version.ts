// sluice version: of this program, and of the running daemon.

import type { Call } from "../../command.ts";
import { answer, type Io } from "../../io.ts";
import { instantOf, relative } from "../../times.ts";

export async function run(_call: Call, io: Io): Promise<undefined> {
	const version = await io.world.version();
	const daemon = await io.askIfRunning("scheduler.version");
	answer(io, { schema_version: 1, version, daemon: daemon ?? null }, () => {
		io.print.out(`sluice ${version}`);
		if (!daemon) return io.print.say("no daemon is running");
		const { version: theirs, pid, home, started_at } = daemon;
		io.print.out(`daemon ${theirs}, pid ${pid}, started ${relative(instantOf(started_at) ?? 0, io.world.now())}, home ${home}`);
		if (theirs !== version)
			io.print.warn("the daemon is of another version: sluice down && sluice up --detach changes it; runs go on meanwhile");
	});
}
