// The settings by which a daemon is shared on the network: rows of settings.ts. What they mean together is checked where they take effect: sharing/listen.ts.

import { isIP } from "node:net";
import * as check from "../../core/input/check.ts";
import type { Reader } from "../../core/schema/field.ts";
import { group, setting, type ValuesOf } from "../../core/schema/setting.ts";
import { folder, oneOf, orNone } from "../../core/schema/setting-values.ts";

/** `10.0.0.7:7443`, `[::]:7443`, `localhost:7443`. */
const address: Reader<string> = (value, field) => {
	const text = check.text(value, field, { max: 200, lines: "one" }).toLowerCase();
	if (addressParts(text)) return text;
	throw check.wrong(field, `${check.shown(text)} is not an address with a port`, addressHint(text));
};

function addressHint(text: string): string {
	if (/^\d{1,5}$/.test(text)) return `for example 0.0.0.0:${text} (all addresses of this machine) or 127.0.0.1:${text}`;
	if (/^[a-z0-9.-]+:\d{1,5}$/.test(text) && !/^[\d.]+:/.test(text))
		return `write 0.0.0.0:${text.split(":")[1]}, and the name into listen.names: sluice serve --listen 0.0.0.0:${text.split(":")[1]} --name ${text.split(":")[0]}`;
	if (isIP(text) !== 0) return `the port is missing: ${isIP(text) === 6 ? `[${text}]` : text}:7443`;
	return "for example 0.0.0.0:7443 (all addresses of this machine), 10.0.0.7:7443 or [::]:7443";
}

/** Null if the text is none. */
export function addressParts(text: string): { host: string; port: number } | null {
	const [, six, four, port = ""] = /^(?:\[([\da-f:.]+)\]|([\d.]+|localhost)):(\d{1,5})$/.exec(text) ?? [];
	const host = six ?? four ?? "";
	if (Number(port) > 65_535 || !(host === "localhost" || isIP(host) === (six === undefined ? 4 : 6))) return null;
	return { host, port: Number(port) };
}

const names: Reader<string[]> = (value, field) =>
	check.list(value, field, 50).map((one, index) => {
		const name = check.text(one, `${field}[${index}]`, { max: 260, lines: "one" }).toLowerCase();
		if (!/^(?:[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?|\[[\da-f:.]+\])(?::\d{1,5})?$/.test(name))
			throw check.wrong(
				`${field}[${index}]`,
				`${check.shown(name)} is not the name of a machine`,
				'for example "sluice.example.org", without https://',
			);
		return name;
	});

const peers: Reader<string[]> = (value, field) =>
	check.list(value, field, 50).map((one, index) => {
		const peer = check.text(one, `${field}[${index}]`, { max: 50, lines: "one" }).toLowerCase();
		if (isIP(peer) === 0) throw check.wrong(`${field}[${index}]`, `${check.shown(peer)} is not an IP address`, 'for example "10.0.0.2"');
		return peer;
	});

const header: Reader<string> = (value, field) => {
	const name = check.text(value, field, { max: 100, lines: "one" }).toLowerCase();
	const taken = ["host", "authorization", "origin", "cookie", "content-type", "content-length", "x-sluice-proxy-secret"];
	if (!/^[a-z0-9-]+$/.test(name) || taken.includes(name))
		throw check.wrong(
			field,
			`${check.shown(name)} is no header that can name a person`,
			'for example "x-forwarded-email" or "remote-user"',
		);
	return name;
};

export const LISTEN = group({
	address: setting(null, orNone(address)).about(
		"Where the daemon also listens, for other machines: `0.0.0.0:7443` is all addresses of this one. `null` = it is not shared. `sluice serve --listen` sets it. Counts at once.",
	),
	tls: setting("on", oneOf("on", "off")).about("`off`: plain HTTP, for loopback addresses alone, behind a proxy of your own that has TLS."),
	certificate: setting(null, folder).about(
		"A file with the certificate and its chain (PEM); `null` = the daemon makes one of its own, in the home. A renewed file is noticed within an hour.",
	),
	key: setting(null, folder).about("The file with its private key (PEM, without a password)."),
	names: setting([], names).about(
		"Names by which people reach the daemon, the first for links: `[sluice.example.org]`. Requests with another name in their address are refused; the machine's own name and addresses always count.",
	),
	proxy: group({
		from: setting([], peers).about(
			"Addresses of a reverse proxy that signs people in. Only from there the header counts; from anywhere else a request with it is refused.",
		),
		name_header: setting(null, orNone(header)).about(
			"The header in which the proxy names the person: `x-forwarded-email`. The role is the one that `sluice people list` shows.",
		),
		secret_file: setting(null, folder).about(
			"A file with a secret of at least 16 characters that the proxy sends as `X-Sluice-Proxy-Secret`. Needed where the proxy is on this machine: every local user can connect from its address.",
		),
		unknown: setting("refuse", oneOf("refuse", "viewer")).about(
			"People whom the proxy names and `sluice people list` does not: refused, or viewers.",
		),
	}),
});
export type ListenSettings = ValuesOf<{ listen: typeof LISTEN }>["listen"];
