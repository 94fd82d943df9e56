// The daemon as a program of its own: `node daemon-main.js --home FOLDER [--port N|none] [--name NAME] [--label LABEL]… [--no-claims]`. What starts in the background, and what a service starts.
//
// Exit codes: 0 stopped when asked to · 1 cannot run, or broke · 2 bad configuration or command line · 4 another daemon has this home.

import { writeSync } from "node:fs";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { RUN_VARIABLES } from "../api/auto-start.ts";
import { SluiceError } from "../core/errors.ts";
import { serve } from "./door.ts";
import { homePath } from "./home.ts";

const EXIT: Partial<Record<SluiceError["code"], number>> = { invalid: 2, unknown_key: 2, limit: 2, conflict: 4 };

/**
 * Functions are optimised after four times as much work as usual. A daemon's bursts are short: in one of 1,000 starts the compiler's threads took a fifth of
 * its processor time, which the programs that it starts could have had.
 */
setFlagsFromString("--interrupt-budget=540672");

/** To stderr, which is daemon.log or a terminal. At once: what follows may be the end. */
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
			},
		});
		const port = values.port === undefined ? undefined : values.port === "none" ? null : Number(values.port);
		const claims = values["no-claims"] ? ("off" as const) : undefined;
		return { home: values.home ?? homePath(), port, name: values.name, labels: values.label, claims };
	} catch (error) {
		throw new SluiceError("invalid", error instanceof Error ? error.message : String(error));
	}
}

async function main(): Promise<number> {
	// We were wrong: loud, and gone. Runs go on behind their shims, and the next daemon finds them.
	for (const kind of ["uncaughtException", "unhandledRejection"])
		process.on(kind, (error: unknown) => {
			say(`sluice: the daemon broke: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
			process.exit(1);
		});
	// The next command that is run by us is not part of the run that we may have been started from.
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
