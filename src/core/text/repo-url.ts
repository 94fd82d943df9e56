// Where a repo can be cloned from, as people write it: which addresses are accepted, and how one is shown. Pure.
//
//   https://host/path   http ssh git file    a scheme that git itself serves
//   user@host:path      host:path            ssh's short form
//   /whole/path                              a repository on the same disk, or on a disk that every host mounts
//
// Refused: anything that a program could read as an option, and `helper::address`, which makes git run any program.

import { nth } from "../errors.ts";
import { isOneOf } from "./one-of.ts";
import { withoutEnd } from "./text-end.ts";

const SCHEMES = ["https", "http", "ssh", "git", "file"] as const;
const MAX_URL_CHARACTERS = 2000;

/** What is wrong with the address; undefined if nothing is. */
export function urlFault(url: string): string | undefined {
	if (url === "") return "is empty";
	if (url.length > MAX_URL_CHARACTERS) return `has more than ${MAX_URL_CHARACTERS} characters`;
	// biome-ignore lint/suspicious/noControlCharactersInRegex: exactly those are looked for
	if (/[\u0000-\u0020\u007f]/.test(url)) return "has spaces or control characters";
	if (url.startsWith("-")) return "begins like an option";
	if (/^[a-zA-Z0-9+.-]+::/.test(url)) return "names a helper program of git";
	const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):\/\//.exec(url)?.[1]?.toLowerCase();
	if (scheme !== undefined) {
		if (!isOneOf(scheme, SCHEMES)) return `has the scheme ${scheme}, which is not one of ${SCHEMES.join(", ")}`;
		const rest = url.slice(scheme.length + 3);
		if (scheme === "file" ? !rest.startsWith("/") : /^[/@:]|^$/.test(rest)) return "names no host";
		return hostOf(rest).startsWith("-") ? "has a host that begins like an option" : undefined;
	}
	if (url.startsWith("/")) return undefined;
	const scp = /^(?:[^@/:]+@)?([^@/:]+):(?!\/\/).+$/.exec(url);
	if (scp) return nth(scp, 1).startsWith("-") ? "has a host that begins like an option" : undefined;
	return "is neither a URL nor a whole path";
}

const hostOf = (rest: string): string => (rest.split("/")[0] ?? "").replace(/^.*@/, "");

/**
 * Removes the user part of web addresses, which may be a token, the password of any other address, and query parameters called token, key, secret, password
 * or signature. Also works inside longer texts. A password may contain quotes and an @, so the last @ of the host part counts.
 */
export const withoutCredentials = (text: string): string =>
	text
		.replace(/\b([a-z][a-z0-9+.-]{0,30}:\/\/)([^/\s]*)@/gi, (whole, scheme: string, user: string) =>
			/^https?:/i.test(scheme) || user.includes(":") ? `${scheme}***@` : whole,
		)
		.replace(/([?&][\w.-]{0,40}(?:token|key|secret|passw(?:or)?d|pwd|auth|sig|signature)=)[^&#\s"']+/gi, "$1***");

/** A name for the repo: the last part of its address. */
export const nameOfUrl = (url: string): string =>
	withoutEnd(url, "/")
		.replace(/\.git$/, "")
		.split(/[/:]/)
		.at(-1) ?? "";
