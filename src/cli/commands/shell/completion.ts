// sluice completion: the script for a shell.

import type { Call } from "../../command.ts";
import { bash, fish, zsh } from "../../command-line/completion.ts";
import type { Io } from "../../io.ts";

export async function run(call: Call, io: Io): Promise<undefined> {
	const script = { bash, zsh, fish }[call.arg("SHELL") as "bash" | "zsh" | "fish"];
	io.world.stdout.write(script(io.commands));
}
