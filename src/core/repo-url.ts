// Where a repo can be cloned from, as a person writes it: which addresses are taken, and how one is shown. Pure.
//
//   https://host/path   http ssh git file    a scheme that git itself serves
//   user@host:path      host:path            as ssh has it
//   /whole/path                              a repository on the same disk, or one that every host mounts
//
// Not taken: what a program could read as an option, and `helper::address`, with which git runs whatever it is told to.

const SCHEMES = ["https", "http", "ssh", "git", "file"] as const;
const MOST = 2000;

/** What is wrong with it, in words; undefined when nothing is. */
export function urlFault(url: string): string | undefined {
	if (url === "") return "is empty";
	if (url.length > MOST) return `has more than ${MOST} characters`;
	// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are looked for
	if (/[\u0000-\u0020\u007f]/.test(url)) return "has spaces or control characters";
	if (url.startsWith("-")) return "begins like an option";
	if (/^[a-zA-Z0-9+.-]+::/.test(url)) return "names a helper program of git";
	const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
	if (scheme !== undefined) {
		if (!(SCHEMES as readonly string[]).includes(scheme)) return `has the scheme ${scheme}, which is not one of ${SCHEMES.join(", ")}`;
		const rest = url.slice(scheme.length + 3);
		if (scheme === "file" ? !rest.startsWith("/") : /^[/@:]|^$/.test(rest)) return "names no host";
		return hostOf(rest).startsWith("-") ? "has a host that begins like an option" : undefined;
	}
	if (url.startsWith("/")) return undefined;
	const scp = /^(?:[^@/:]+@)?([^@/:]+):(?!\/\/).+$/.exec(url);
	if (scp) return (scp[1] as string).startsWith("-") ? "has a host that begins like an option" : undefined;
	return "is neither a URL nor a whole path";
}

const hostOf = (rest: string): string => (rest.split("/")[0] ?? "").replace(/^.*@/, "");

/**
 * Without what stands before the @ of a web address, which may be a token, and without the password of any other address. Also in longer texts. A password may
 * hold quotes and an @, so the last @ of the host's part counts.
 */
export const withoutCredentials = (text: string): string =>
	text.replace(/\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^/\s]*)@/gi, (whole, scheme: string, user: string) =>
		/^https?:/i.test(scheme) || user.includes(":") ? `${scheme}***@` : whole,
	);

/** A name for it: its last part. */
export const nameOfUrl = (url: string): string =>
	url
		.replace(/\/+$/, "")
		.replace(/\.git$/, "")
		.split(/[/:]/)
		.at(-1) ?? "";
