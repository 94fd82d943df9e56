// The daemon on the network: opens the shared HTTP server by the settings, follows their changes, and renews its certificate.
//
//   at start     settings that cannot be used are logged and shown (sluice serve, scheduler.version); the daemon works on without the network
//   a change     the new server is opened, or the change is refused and the server before stays
//   every hour   a certificate that is about to end, or whose file has changed, is replaced; connections stay

import { readFileSync, statSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import type { SharedEndpoint } from "../../api/context.ts";
import type { ProxyRule } from "../../api/server/proxy.ts";
import type { Serving } from "../../api/server/serve.ts";
import type { Clock, Host } from "../../contracts/host.ts";
import type { Log } from "../../contracts/log.ts";
import { codeOf, messageOf, SluiceError } from "../../core/errors.ts";
import { addressParts, type ListenSettings } from "../config/listen.ts";
import { givenCertificate, ownCertificate, type ServerCertificate } from "./certificate.ts";

type SharingParts = {
	home: string;
	settings: ListenSettings;
	clock: Pick<Clock, "now">;
	host: Pick<Host, "after">;
	log: Pick<Log, "info" | "warn" | "error">;
};
/** A server that listens. */
type Open = { shared: SharedEndpoint; certificate: ServerCertificate | null; server: Awaited<ReturnType<Serving["share"]>> };

const RENEW_MS = 3_600_000;
const ANY = ["0.0.0.0", "::"];
const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127\./.test(host);
const bracketed = (host: string): string => (host.includes(":") ? `[${host}]` : host);

/** What the settings mean together. Throws with the cure; changes nothing. */
export function checkListen({ address, tls, certificate, key, proxy }: ListenSettings): void {
	const wrong = (field: string, message: string, hint: string) =>
		new SluiceError("invalid", `listen.${field}: ${message}`, { field: `listen.${field}`, hint });
	const parts = address === null ? null : addressParts(address);
	if (parts && tls === "off" && !isLoopback(parts.host))
		throw wrong(
			"address",
			`${address} can be reached from other machines, and listen.tls is off: tokens would cross the network in clear`,
			`sluice config set listen.tls on; or, behind a proxy on this machine, sluice serve --listen 127.0.0.1:${parts.port} --no-tls`,
		);
	if ((certificate === null) !== (key === null))
		throw wrong(
			certificate === null ? "certificate" : "key",
			"is missing",
			"a certificate and its key are given together: --cert FILE --key FILE",
		);
	if (proxy.from.length > 0 && proxy.name_header === null)
		throw wrong(
			"proxy.name_header",
			"is missing",
			"name the header in which the proxy passes the person on, for example x-forwarded-email",
		);
	if (proxy.name_header !== null && proxy.from.length === 0)
		throw wrong("proxy.from", "is missing", "name the addresses of the proxy: a header that counts from anywhere lets every caller in");
	if (proxy.from.some(isLoopback) && proxy.secret_file === null)
		throw wrong(
			"proxy.secret_file",
			"is missing: every user of this machine can connect from a loopback address",
			"write a secret into a file (mode 600), name the file here, and let the proxy send the secret as X-Sluice-Proxy-Secret",
		);
}

/** The rule for the proxy; null if none is trusted. */
function proxyRule({ proxy }: ListenSettings): ProxyRule | null {
	if (proxy.name_header === null) return null;
	const secret = proxy.secret_file === null ? null : readSecret(proxy.secret_file);
	return { from: proxy.from, header: proxy.name_header, secret, unknown: proxy.unknown === "viewer" ? "viewer" : null };
}

function readSecret(path: string): string {
	const wrong = (message: string, hint: string) =>
		new SluiceError("invalid", `listen.proxy.secret_file: ${path} ${message}`, { field: "listen.proxy.secret_file", hint });
	let secret: string;
	try {
		const stat = statSync(path);
		if (!stat.isFile()) throw new Error("it is not a file");
		if ((stat.mode & 0o077) !== 0) throw wrong("can be read by other users", `chmod 600 ${path}`);
		secret = readFileSync(path, "utf8").trim();
	} catch (error) {
		if (error instanceof SluiceError) throw error;
		throw wrong(
			codeOf(error) === "ENOENT" ? "is not there" : `cannot be read: ${messageOf(error)}`,
			"name a file with the secret, with its whole path",
		);
	}
	if (secret.length < 16) throw wrong("has fewer than 16 characters", "for example: openssl rand -hex 32");
	return secret;
}

/** The server that the settings ask for; null if they ask for none. */
async function openServer(
	serving: Pick<Serving, "share">,
	listen: ListenSettings,
	{ home, clock, log }: SharingParts,
): Promise<Open | null> {
	const parts = listen.address === null ? null : addressParts(listen.address);
	if (!parts) return null;
	const certificate = listen.tls === "on" ? certificateFor(listen, { home, now: clock.now() }) : null;
	const names = () => [...listen.names, ...machineNames(parts.host)];
	try {
		const server = await serving.share({ address: parts.host, port: parts.port, names, ...(certificate ? { tls: certificate } : {}) });
		const shared = endpointOf(listen, server.port, certificate);
		const { address, url, fingerprint } = shared;
		log.info("the daemon is shared on the network", { address, url: url ?? undefined, fingerprint: fingerprint ?? undefined });
		return { shared, certificate, server };
	} catch (error) {
		throw cannotListen(error, parts);
	}
}

/** A new certificate counts for connections from now on. */
function renewCertificate(open: Open, listen: ListenSettings, { home, clock, log }: SharingParts): void {
	try {
		if (open.certificate === null) return;
		const fresh = certificateFor(listen, { home, now: clock.now() });
		if (fresh.fingerprint === open.certificate.fingerprint) return;
		open.server.renew(fresh);
		open.certificate = fresh;
		open.shared = endpointOf(listen, open.server.port, fresh);
		log.info("the certificate was replaced", { fingerprint: fresh.fingerprint });
	} catch (error) {
		log.warn("the certificate could not be read again, the one before stays", { error: messageOf(error) });
	}
}

const certificateFor = (listen: ListenSettings, { home, now }: { home: string; now: number }): ServerCertificate =>
	listen.certificate !== null && listen.key !== null
		? givenCertificate({ certificate: listen.certificate, key: listen.key })
		: ownCertificate(home, certificateNames(listen), now);

export function createSharing(parts: SharingParts) {
	const { host, log } = parts;
	let now = parts.settings;
	let rule: ProxyRule | null = null;
	let serving: Pick<Serving, "share"> | undefined;
	let open: Open | null = null;
	let problem: string | null = null;
	let cancel = () => {};

	async function take(listen: ListenSettings): Promise<void> {
		checkListen(listen);
		rule = proxyRule(listen);
		open = serving ? await openServer(serving, listen, parts) : null;
	}

	async function closeServer(): Promise<void> {
		const { server } = open ?? {};
		open = null;
		await server?.close();
	}

	function renewHourly(): void {
		cancel = host.after(RENEW_MS, () => {
			if (open) renewCertificate(open, now, parts);
			renewHourly();
		});
	}

	return {
		names: () => now.names,
		proxy: () => rule,
		/** Null while the daemon is not shared. */
		endpoint(): SharedEndpoint | null {
			if (open) return open.shared;
			if (problem === null || now.address === null) return null;
			return { url: null, address: now.address, fingerprint: null, pin: null, own_certificate: false, problem };
		},
		/** When the certificate in use ends; null without one. */
		certificateEnd: (): number | null => open?.certificate?.until ?? null,
		/** At the daemon's start: a mistake does not keep it from working. */
		async start(by: Pick<Serving, "share">): Promise<void> {
			serving = by;
			renewHourly();
			try {
				await take(now);
			} catch (error) {
				problem = messageOf(error);
				log.error(`the daemon is not shared on the network: ${problem}`, { hint: error instanceof SluiceError ? error.hint : undefined });
			}
		},
		/** Takes over changed settings, or rejects and stays with those before. */
		async follow(next: ListenSettings): Promise<void> {
			if (JSON.stringify(next) === JSON.stringify(now)) return;
			checkListen(next);
			await closeServer();
			try {
				await take(next);
				[now, problem] = [next, null];
			} catch (error) {
				await take(now).catch(() => {});
				throw error;
			}
		},
		async close(): Promise<void> {
			cancel();
			await closeServer();
		},
	};
}

function cannotListen(error: unknown, { host, port }: { host: string; port: number }): unknown {
	const at = `${bracketed(host)}:${port}`;
	const refused = (message: string, hint: string) =>
		new SluiceError("conflict", `listen.address: ${message}`, { field: "listen.address", hint });
	switch (codeOf(error)) {
		case "EADDRINUSE":
			return refused(
				`port ${port} of ${host} is taken by another program`,
				`take another port: sluice serve --listen ${bracketed(host)}:${port + 1}`,
			);
		case "EADDRNOTAVAIL":
			return refused(`this machine has no address ${host}`, `0.0.0.0:${port} is all addresses of this machine`);
		case "EACCES":
			return refused(`this user may not listen on ${at}`, "take a port above 1023, for example 7443");
		default:
			return error instanceof SluiceError
				? error
				: refused(`the daemon cannot listen on ${at}: ${messageOf(error)}`, "sluice serve --off ends it");
	}
}

/** Addresses of this machine that other machines may use. */
const interfaces = (): string[] =>
	Object.values(networkInterfaces()).flatMap((all) =>
		(all ?? []).flatMap(({ address, internal }) => (internal ? [] : [address.replace(/%.*$/, "")])),
	);

const ownName = (): string[] => [hostname().toLowerCase()].filter((name) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(name));

/** As they stand in the header Host. */
const machineNames = (host: string): string[] => [...ownName(), ...(ANY.includes(host) ? interfaces() : [host]).map(bracketed)];

function certificateNames({ names, address }: ListenSettings): string[] {
	const { host } = addressParts(address ?? "") ?? { host: "localhost" };
	const given = names.map((name) => name.replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1"));
	const addresses = ANY.includes(host) || host === "localhost" ? [] : [host];
	return [...new Set([...given, ...ownName(), "localhost", "127.0.0.1", "::1", ...addresses])];
}

/** Behind a proxy that signs people in, people come by the proxy's address, which has the usual port. */
function endpointOf(listen: ListenSettings, port: number, certificate: ServerCertificate | null): SharedEndpoint {
	const { host } = addressParts(listen.address ?? "") ?? { host: "localhost" };
	const [first] = listen.names;
	const byProxy = listen.proxy.name_header !== null && first !== undefined;
	const place = first ?? bracketed(ANY.includes(host) ? (interfaces()[0] ?? ownName()[0] ?? "localhost") : host);
	const shown = /:\d+$/.test(place) ? place : `${place}:${port}`;
	const url = byProxy ? `https://${first}/` : `${certificate ? "https" : "http"}://${shown}/`;
	return {
		url,
		address: `${bracketed(host)}:${port}`,
		fingerprint: certificate?.fingerprint ?? null,
		pin: certificate?.pin ?? null,
		own_certificate: certificate?.own ?? false,
		problem: null,
	};
}
