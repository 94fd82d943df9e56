// sluice mcp: serves agents over stdin and stdout. What it serves with is a program of its own, loaded only here.

import { loadMcp } from "../../api/auto-start.ts";
import { isFormat } from "../../core/agents/index.ts";
import { createRenderer } from "../../core/agents/render.ts";
import { readJson, writeJson } from "../../core/json-text.ts";
import type { Call } from "../command.ts";
import { allowedNames, capture } from "../environment.ts";
import { EXIT, usage } from "../failure.ts";
import { type Connection, type Document, type Io, placeOf } from "../io.ts";
import { AGAIN, PATIENCE } from "../program.ts";

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
			folder: (given = ".") => placeOf(world, given),
			environment: async () => capture(world.env, await allowedNames({ ...io, ask: connections.call })),
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

/** A server lives for hours, daemons come and go: each call is like a command of its own, and starts one if none is there. */
function keptConnection({ world, home }: Io): { call(method: string, params?: Document): Promise<Document>; close(): void } {
	let open: Promise<Connection | undefined> | undefined;
	const reach = (): Promise<Connection | undefined> => {
		const opening = world.connect(home, "start");
		open = opening;
		const forget = () => {
			if (open === opening) open = undefined;
		};
		opening.then((connection) => connection?.closed.then(forget), forget);
		return opening;
	};
	return {
		async call(method, params = {}) {
			for (let tries = 0; ; tries++) {
				try {
					const connection = (await (open ?? reach())) as Connection;
					return await connection.call(method, { ...params, by: `mcp:${world.user()}` });
				} catch (error) {
					// What only looks is asked again of the next daemon. A run waits for its own, which is not ours to start.
					const { code } = error as { code?: unknown };
					const isBack = code === "disconnected" || (code === "no_daemon" && world.insideOf(home) !== undefined);
					if (!isBack || !AGAIN.includes(method) || tries >= PATIENCE.tries) throw error;
					await new Promise<void>((resolve) => world.after(PATIENCE.everyMs, resolve));
				}
			}
		},
		close: () => void open?.then((connection) => connection?.close()),
	};
}
