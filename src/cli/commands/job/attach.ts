// sluice attach: the session of a running agent at this terminal. Asks for it, opens it with the agent's own program, and gives it back.

import type { Result } from "../../../api/protocol.ts";
import type { Call } from "../../command.ts";
import { CliFailure, EXIT, failureOf, usage } from "../../failure.ts";
import { type Io, idOf } from "../../io.ts";
import { plain } from "../../printing/print.ts";
import { printable, shellWord } from "../../printing/sequences.ts";

const WAIT_MS = 1000;
/** The daemon lets the run go on 30 s after the last request. */
const RENEW_MS = 8000;

type Open = NonNullable<Result<"job.attach">["open"]>;
type Held = { id: number; key: string };

export async function attach(call: Call, io: Io): Promise<number> {
	const { world } = io;
	const id = idOf(call.arg("ID"));
	if (!world.atTerminal) throw usage("attach needs a terminal", `sluice tell ${plain(id)} TEXT speaks to its agent without one`);
	if (io.json) throw usage("attach has no --json", `sluice open ${plain(id)} --json says how to open its session`);
	let held: Held | undefined;
	let stopped: number | undefined;
	let hasWorked = false;
	const unwatch = world.onSignal?.((code) => {
		stopped = code;
	});
	try {
		let answer = await io.ask("job.attach", { id });
		held = { id: answer.job, key: answer.key };
		if (answer.open === null) io.print.say(`waits until the agent of job ${answer.job} has ended its present turn; Ctrl-C gives up`);
		while (answer.open === null) {
			await new Promise<void>((resolve) => world.after(WAIT_MS, resolve));
			if (stopped !== undefined) return stopped;
			answer = await io.ask("job.attach", held);
		}
		unwatch?.();
		const code = await inSession(io, held, answer.open);
		hasWorked = true;
		return code;
	} finally {
		unwatch?.();
		if (held) await giveBack(io, held, call.flag("done") && hasWorked ? "done" : "goes on");
	}
}

async function inSession(io: Io, held: Held, { path, argv, env }: Open): Promise<number> {
	const { world } = io;
	let isOver = false;
	let cancel = () => {};
	const renew = () => {
		cancel = world.after(RENEW_MS, () => {
			// A daemon that is away for a moment keeps the lease in its home.
			void io
				.ask("job.attach", held)
				.catch(() => {})
				.finally(() => {
					if (!isOver) renew();
				});
		});
	};
	renew();
	try {
		io.print.say(printable(`job ${held.id}: ${argv.map(shellWord).join(" ")} in ${path}`));
		const code = await world.atTerminal?.(argv, { cwd: path, env });
		return code === 0 ? EXIT.done : (code ?? EXIT.failed);
	} catch (error) {
		throw new CliFailure(
			"failed",
			`${argv[0]} could not be started: ${failureOf(error).message}`,
			`sluice open ${held.id} prints the line`,
		);
	} finally {
		isOver = true;
		cancel();
	}
}

async function giveBack(io: Io, held: Held, how: "done" | "goes on"): Promise<void> {
	const { released } = await io.ask("job.detach", { ...held, ...(how === "done" ? { done: true } : {}) });
	if (!released) io.print.say(`job ${held.id} has gone on already`);
	else io.print.say(how === "done" ? `job ${held.id} is judged as it stands` : `job ${held.id} goes on`);
}
