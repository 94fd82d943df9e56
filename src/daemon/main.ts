// The daemon as a separate program: `node daemon-main.js --home FOLDER [--port N|none] [--name NAME] [--label LABEL]… [--no-claims] [--accept-loss]`.
// Commands start it in the background, and services start it.
//
// Exit codes: 0 stopped on request · 1 cannot run, or broke · 2 bad configuration or command line · 4 another daemon has this home.

import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { RUN_VARIABLES } from "../api/daemon-process.ts";
import { messageOf, SluiceError } from "../core/errors.ts";
import { serve } from "./cli-module.ts";
import { homePath } from "./service/home.ts";

const EXIT: Partial<Record<SluiceError["code"], number>> = { invalid: 2, unknown_key: 2, limit: 2, conflict: 4 };

/**
 * Makes V8 optimise functions after four times the usual work. A daemon's bursts are short: in a burst of 1,000 starts, the compiler's threads took a fifth
 * of its processor time, which the started programs could have had.
 */
setFlagsFromString("--interrupt-budget=540672");

/** Writes to stderr, which is daemon.log or a terminal; synchronously, because the process may end right afterwards. */
const say = (line: string) => writeSync(2, `${line}\n`);

function readArgs() {
	try {
		const { values } = parseArgs({
			options: {
				home: { type: "string" },
				port: { type: "string" },
				name: { type: "string" },
				label: { type: "string", multiple: true },
				"no-claims": { type: "boolean" },
				"accept-loss": { type: "boolean" },
			},
		});
		const port = values.port === undefined ? undefined : values.port === "none" ? null : Number(values.port);
		const claims = values["no-claims"] ? ("off" as const) : undefined;
		return {
			home: values.home ?? homePath(),
			port,
			name: values.name,
			labels: values.label,
			claims,
			...(values["accept-loss"] ? { loss: "accept" as const } : {}),
		};
	} catch (error) {
		throw new SluiceError("invalid", messageOf(error));
	}
}

async function main(): Promise<number> {
	// A bug in Sluice: report it and exit. Runs go on behind their shims, and the next daemon finds them.
	for (const kind of ["uncaughtException", "unhandledRejection"])
		process.on(kind, (error: unknown) => {
			say(`sluice: the daemon broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
			process.exit(1);
		});
	// The daemon may have been started from within a run. Drop the run's variables, so that commands started by the daemon do not count as part of it.
	for (const name of RUN_VARIABLES) delete process.env[name];
	try {
		return await serve(readArgs());
	} catch (error) {
		if (!(error instanceof SluiceError)) throw error;
		say(`sluice: ${error.message}`);
		if (error.hint) say(`        ${error.hint}`);
		return EXIT[error.code] ?? 1;
	}
}

void main().then((code) => process.exit(code));
