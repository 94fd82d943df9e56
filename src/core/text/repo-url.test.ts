// Addresses of repos: what is accepted, what is not, and that no password is shown.

import { expect, test } from "vitest";
import { nameOfUrl, urlFault, withoutCredentials } from "./repo-url.ts";

test.each([
	"https://example.org/team/app.git",
	"https://ann:secret@example.org/app",
	"ssh://git@example.org:2222/app.git",
	"git@example.org:team/app.git",
	"example.org:app",
	"file:///srv/git/app.git",
	"/srv/git/app.git",
])("%s is taken", (url) => expect(urlFault(url)).toBeUndefined());

test.each([
	["", "is empty"],
	["-uploadpack=evil", "begins like an option"],
	["--upload-pack=touch /tmp/x", "has spaces"],
	["ext::sh -c evil", "has spaces"],
	["ext::sh", "names a helper"],
	["fd::17", "names a helper"],
	["ssh://-oProxyCommand=evil/x", "a host that begins like an option"],
	["ssh://git@-oProxyCommand=evil/x", "a host that begins like an option"],
	["-oProxyCommand=evil:x", "begins like an option"],
	["git@-oProxyCommand=evil:x", "a host that begins like an option"],
	["ftp://example.org/x", "the scheme ftp"],
	["file://x/y", "names no host"],
	["https:///x", "names no host"],
	["app", "neither a URL nor a whole path"],
	["../app", "neither a URL nor a whole path"],
	["https://example.org/a\nb", "control characters"],
	["x".repeat(3000), "more than"],
])("%j is not: %s", (url, why) => expect(urlFault(url)).toContain(why));

test("the user part of a web address is not shown", () => {
	expect(withoutCredentials("https://ann:secret@example.org/app")).toBe("https://***@example.org/app");
	expect(withoutCredentials("fatal: unable to access 'https://TOKEN@example.org/app/': no")).toBe(
		"fatal: unable to access 'https://***@example.org/app/': no",
	);
	expect(withoutCredentials("https://u:pa'SECRET@h ssh://u:SECRET@h/x postgres://u:SECRET@h/db https://u:p@more@h/y")).toBe(
		"https://***@h ssh://***@h/x postgres://***@h/db https://***@h/y",
	);
	expect(withoutCredentials("ssh://git@example.org/app")).toBe("ssh://git@example.org/app");
	expect(withoutCredentials("git@example.org:app and https://example.org/@x")).toBe("git@example.org:app and https://example.org/@x");
});

test.each([
	["https://example.org/team/app.git", "app"],
	["git@example.org:app.git", "app"],
	["example.org:app", "app"],
	["/srv/git/app/", "app"],
])("%s is called %s", (url, name) => expect(nameOfUrl(url)).toBe(name));
