// The `sluice` command: runs the program in the real world. Entry point of the bundle.

import { EXIT } from "./failure.ts";
import { program } from "./program.ts";
import { systemWorld } from "./world.ts";

// A reader that has gone (`sluice list | head`) is not an error.
for (const stream of [process.stdout, process.stderr])
	stream.on("error", (error: NodeJS.ErrnoException) => {
		if (error.code === "EPIPE") process.exit(0);
		throw error;
	});

// Not awaited at the top level, so that the bundle may be of either module kind.
void program(process.argv.slice(2), systemWorld()).then((code) => {
	process.exitCode = code;
	// A command that was interrupted may still have a request open.
	if (code === EXIT.interrupted || code === EXIT.terminated) process.exit(code);
});
