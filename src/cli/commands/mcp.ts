// sluice mcp: serves agents over stdin and stdout. The server is a separate program that only this command loads.

import { RpcError } from "../../api/client.ts";
import { isFormat } from "../../core/agents/index.ts";
import { createRenderer } from "../../core/agents/stream/render.ts";
import { codeOf } from "../../core/errors.ts";
import { readJson, writeJson } from "../../core/text/json-text.ts";
import { loadMcp } from "../auto-start.ts";
import { allowedNames, capture } from "../caller/environment.ts";
import type { Call } from "../command.ts";
import { EXIT, usage } from "../failure.ts";
import { absolutePath, type DaemonConnection, type Io } from "../io.ts";
import { PATIENCE, REPEATABLE } from "../patience.ts";

export async function run(call: Call, io: Io): Promise<number> {
	const { world } = io;
	if (world.stdin.isTTY)
		throw usage("sluice mcp is started by an agent, which talks to it over a pipe", "sluice mcp --help says how to register it");
	const { serve } = await loadMcp();
	const connections = keptConnection(io);
	await serve(
		{
			call: connections.call,
			job: world.insideOf(io.home),
			folder: (given = ".") => absolutePath(world, given),
			environment: async () => capture(world.env, await allowedNames({ ask: connections.call })),
			rendered: (output, text) => {
				if (!isFormat(output)) return text;
				const renderer = createRenderer(output);
				return `${renderer.push(text)}${renderer.end()}`;
			},
			readJson,
			writeJson,
			version: await world.version(),
		},
		call.text("for") === "run" ? "run" : "all",
	);
	connections.close();
	return EXIT.done;
}

/** The server lives for hours, daemons come and go: each call works like a command of its own, and starts a daemon if none runs. */
function keptConnection({ world, home }: Io): Pick<DaemonConnection, "call" | "close"> {
	let open: Promise<DaemonConnection | undefined> | undefined;
	const reach = (): Promise<DaemonConnection | undefined> => {
		const opening = world.connect(home, "start");
		open = opening;
		const forget = () => {
			if (open === opening) open = undefined;
		};
		opening.then((connection) => connection?.closed.then(forget), forget);
		return opening;
	};
	return {
		async call(method, params) {
			for (let tries = 0; ; tries++) {
				try {
					const connection = await (open ?? reach());
					if (!connection) throw new RpcError("no daemon is running", null, { code: "no_daemon" });
					return await connection.call(method, { ...params, by: `mcp:${world.user()}` });
				} catch (error) {
					// Calls that only read are repeated with the next daemon. A run waits for its own daemon, which it may not start.
					const code = codeOf(error);
					const isBack = code === "disconnected" || (code === "no_daemon" && world.insideOf(home) !== undefined);
					if (!isBack || !REPEATABLE.includes(method) || tries >= PATIENCE.tries) throw error;
					await new Promise<void>((resolve) => world.after(PATIENCE.everyMs, resolve));
				}
			}
		},
		close: () => void open?.then((connection) => connection?.close()),
	};
}
