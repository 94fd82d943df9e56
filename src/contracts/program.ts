// Contract for programs that the daemon itself runs and waits for: git, hooks, verify commands, conditions. Implementation in host/program.ts.

type ProgramOptions = {
	cwd: string;
	/** The whole environment. */
	env: Record<string, string>;
	/** After this time the program is killed, with everything in its process group. */
	timeoutMs: number;
	input?: string;
	/** Both outputs are appended to this file as well. */
	log?: string;
	/** The last characters of each output that are kept; 10 million if absent. */
	keep?: number;
};

/** `code` is null if the program did not exit by itself: `trouble` says why, in words. */
export type ProgramEnd = { code: number | null; stdout: string; stderr: string; trouble: string | null };

/** Runs a program. argv goes to the system unchanged, never through a shell. Never rejects. */
export type RunProgram = (argv: readonly string[], options: ProgramOptions) => Promise<ProgramEnd>;

/** Why a program failed, in one line; null if it succeeded. */
export function faultOf({ code, stdout, stderr, trouble }: ProgramEnd): string | null {
	if (code === 0) return null;
	const said = lastLineOf(stderr) || lastLineOf(stdout);
	const how = trouble ?? `exit code ${code}`;
	return said === "" ? how : `${how}: ${said}`;
}

/**
 * The last line of a text, without colours and other control characters: it is stored, and becomes part of variables and prompts, which cannot contain a NUL.
 */
export function lastLineOf(text: string): string {
	const last = text.trimEnd().split("\n").at(-1) ?? "";
	const line = last
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
		.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "")
		// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is to go
		.replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ")
		.trim();
	return line.length > 500 ? `${line.slice(0, 500).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
