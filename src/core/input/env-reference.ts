// Variables whose values are stored elsewhere, so that no secret is in the configuration, the store or a document: they hold only a reference.
//
//   env:NAME      the variable NAME of the daemon's own environment
//   file:/PATH    the text of a file, read at each start of a run, without its last line break; `~/` is the home folder of the daemon's user
//
// `file://…` is a URL, and is used as it is written.

export type EnvReference = { from: "env"; name: string } | { from: "file"; path: string };

export function envReferenceOf(text: string): EnvReference | null {
	const name = /^env:([A-Za-z_][A-Za-z0-9_]*)$/.exec(text)?.[1];
	if (name !== undefined) return { from: "env", name };
	const path = /^file:((?:~\/|\/(?!\/))[^\0\n]*)$/.exec(text)?.[1];
	return path === undefined ? null : { from: "file", path };
}

/** A text that looks like a reference, but is not a valid one. */
export const isBrokenReference = (text: string): boolean => /^(?:env|file):(?!\/\/)/.test(text) && envReferenceOf(text) === null;

/** The value behind a text of `agents.<name>.env` or `accounts.<name>.env`; or why it is not available. */
export type Reveal = (text: string) => { value: string } | { problem: string };

export type Revealed = { env: Record<string, string> } | { problem: string };

/** The values of all variables, or the first that is not available: `at` is where they are set. */
export function revealed(env: Readonly<Record<string, string>>, at: string, reveal: Reveal): Revealed {
	const found: Record<string, string> = {};
	for (const [name, text] of Object.entries(env)) {
		const one = reveal(text);
		if ("problem" in one) return { problem: `${at}.${name}: ${one.problem}` };
		found[name] = one.value;
	}
	return { env: found };
}
