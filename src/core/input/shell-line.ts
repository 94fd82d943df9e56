// Recognises a whole shell line in place of a program: only a shell can run it.

/** The command that would run it; null if the first word can be a program. */
export function shellCommandFor(command: readonly string[]): string | null {
	if (!/[\s|&;<>$`*]/.test(command[0] ?? "")) return null;
	return `sluice add -- sh -c '${command.join(" ").replaceAll("'", `'\\''`)}'`;
}
