// The URL of a store on PostgreSQL: what Sluice reads in it, and what goes on to the driver.

import { SluiceError } from "../core/errors.ts";

/** `direct`: past a pooler, for connections that keep state of a session. */
export type Address = { url: string; direct: string; schema: string; display: string };

const SCHEMA = /^[a-z_][a-z0-9_]{0,40}$/;

const STRICT = ["require", "verify-ca", "verify-full"];
const SSL_MODES = ["disable", "no-verify", ...STRICT];

/** Splits a store's URL: `?schema=` and `?direct=host:port` are ours, the rest is PostgreSQL's. `display` has no password. */
export function addressOf(text: string): Address {
	let url: URL;
	try {
		url = new URL(text);
	} catch {
		throw new SluiceError("store", "the store's URL cannot be read", { hint: "postgres://user@host:5432/database" });
	}
	const schema = url.searchParams.get("schema") ?? "sluice";
	if (!SCHEMA.test(schema))
		throw new SluiceError("store", `the schema ${JSON.stringify(schema)} in the store's URL is no plain name`, {
			hint: "small letters, digits and _, at most 40",
		});
	const mode = url.searchParams.get("sslmode");
	if (mode !== null && !SSL_MODES.includes(mode))
		throw new SluiceError("store", `sslmode=${mode} in the store's URL is not known`, { hint: `${SSL_MODES.join(", ")}` });
	// Every mode that encrypts also verifies the server's certificate, except `no-verify`.
	if (mode !== null && STRICT.includes(mode)) url.searchParams.set("sslmode", "verify-full");
	const past = url.searchParams.get("direct");
	for (const ours of ["schema", "direct"]) url.searchParams.delete(ours);
	const direct = new URL(url);
	if (past !== null) {
		direct.host = past;
		if (!/^[^/?#@\s]+$/.test(past) || direct.host !== past)
			throw new SluiceError("store", `direct=${past} in the store's URL is no address`, {
				hint: "host:port of the server behind the pooler",
			});
	}
	const shown = new URL(url);
	if (shown.password) shown.password = "***";
	shown.searchParams.delete("password");
	return { url: url.toString(), direct: direct.toString(), schema, display: shown.toString() };
}

/** The address of the server itself, past a pooler. */
export const directly = (address: Address): Address => ({ ...address, url: address.direct });
