// The certificate with which a daemon shows itself on the network: one that it makes for itself and keeps in the home, or one that is given by files.
//
//   tls.key    made once (P-256), never replaced: its digest is the pin, by which clients recognise the daemon for ever
//   tls.crt    made anew with the same key when a name is missing, when it ends within RENEW_MS, or when the clock is outside of its time

import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { join } from "node:path";
import { codeOf, messageOf, orElse, SluiceError } from "../../core/errors.ts";
import { kindOf } from "../../host/kind.ts";
import { secret } from "../../host/secret.ts";
import { writeWhole } from "../service/write-file.ts";
import * as der from "./der.ts";

const DAY_MS = 86_400_000;
/** A client whose clock is some days behind must accept a new certificate. */
const BEFORE_MS = 7 * DAY_MS;
/** Browsers of Apple refuse certificates of more than 825 days. */
const LASTS_MS = 800 * DAY_MS;
const RENEW_MS = 30 * DAY_MS;

/** `fingerprint`: what browsers show. `pin`: digest of the public key, as curl's --pinnedpubkey takes it. `own`: made by the daemon itself. */
export type ServerCertificate = { cert: string; key: string; fingerprint: string; pin: string; own: boolean; until: number };

const ECDSA_SHA256 = "1.2.840.10045.4.3.2";
const COMMON_NAME = "2.5.4.3";
const EXTENSIONS = { alternativeNames: "2.5.29.17", basicConstraints: "2.5.29.19", extendedKeyUsage: "2.5.29.37" };
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";

/** Names that are addresses go in as addresses: browsers compare them apart from host names. */
function alternativeName(name: string): Buffer {
	const kind = isIP(name);
	return kind === 0 ? der.implicit(2, Buffer.from(name, "ascii")) : der.implicit(7, addressBytes(name, kind));
}

export function addressBytes(address: string, kind: number): Buffer {
	if (kind === 4) return Buffer.from(address.split(".").map(Number));
	// URL writes an IPv6 address in its shortest form, with an address of IPv4 in it as two groups.
	const [head = "", tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
	const groups = (text: string) => (text === "" ? [] : text.split(":").map((group) => Number.parseInt(group, 16)));
	const [first, last] = [groups(head), groups(tail ?? "")];
	const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
	return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

type Making = { names: readonly string[]; key: KeyObject; publicKey: Uint8Array; from: number; until: number; serial: Uint8Array };

/** A self-signed certificate of version 3: RFC 5280, 4.1. */
function makeCertificate({ names, key, publicKey, from, until, serial }: Making): string {
	const algorithm = der.sequence(der.objectId(ECDSA_SHA256));
	const subject = der.sequence(der.set(der.sequence(der.objectId(COMMON_NAME), der.text("Sluice"))));
	const extension = (id: string, value: Buffer, critical: readonly Buffer[] = []) =>
		der.sequence(der.objectId(id), ...critical, der.octets(value));
	const body = der.sequence(
		der.explicit(0, der.integer(Buffer.from([2]))),
		der.integer(serial),
		algorithm,
		subject,
		der.sequence(der.time(from), der.time(until)),
		subject,
		publicKey,
		der.explicit(
			3,
			der.sequence(
				extension(EXTENSIONS.alternativeNames, der.sequence(...names.map(alternativeName))),
				extension(EXTENSIONS.basicConstraints, der.sequence(), [der.TRUE]),
				extension(EXTENSIONS.extendedKeyUsage, der.sequence(der.objectId(SERVER_AUTH))),
			),
		),
	);
	return der.pem("CERTIFICATE", der.sequence(body, algorithm, der.bits(sign("sha256", body, key))));
}

/** The daemon's own certificate for these names: the one in the home, or a new one. */
export function ownCertificate(home: string, names: readonly string[], now: number): ServerCertificate {
	const [keyPath, certPath] = [join(home, "tls.key"), join(home, "tls.crt")];
	const key = keptKey(keyPath);
	const kept = orElse(() => readFileSync(certPath, "utf8"), "");
	const found = orElse(() => new X509Certificate(kept), undefined);
	if (found?.checkPrivateKey(createPrivateKey(key)) && names.every((name) => covers(found, name)) && isCurrent(found, now))
		return described(kept, key, "own");
	const secretKey = createPrivateKey(key);
	const publicKey = publicKeyOf(secretKey);
	const times = { from: now - BEFORE_MS, until: now + LASTS_MS };
	const cert = makeCertificate({ names, key: secretKey, publicKey, ...times, serial: Buffer.from(secret(16), "base64url") });
	writeWhole(certPath, cert);
	return described(cert, key, "own");
}

function keptKey(path: string): string {
	try {
		const kept = readFileSync(path, "utf8");
		createPrivateKey(kept);
		return kept;
	} catch (error) {
		if (codeOf(error) !== "ENOENT")
			throw new SluiceError("store", `the daemon's key ${path} cannot be used: ${messageOf(error)}`, {
				hint: "remove the file: the daemon makes a new one, with another fingerprint",
			});
	}
	const fresh = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" }).toString();
	writeWhole(path, fresh);
	return fresh;
}

const covers = (cert: X509Certificate, name: string): boolean =>
	isIP(name) === 0 ? cert.checkHost(name) !== undefined : cert.checkIP(name) !== undefined;

/** False also for a clock that is off: the certificate is then made anew, so that the daemon never shows one that has ended. */
const isCurrent = ({ validFrom, validTo }: X509Certificate, now: number): boolean =>
	Date.parse(validFrom) <= now && now + RENEW_MS < Date.parse(validTo);

/** A certificate and its key from files; each mistake is named with the file and what to do. */
export function givenCertificate(paths: { certificate: string; key: string }): ServerCertificate {
	const [cert, key] = [readPem(paths.certificate, "listen.certificate"), readPem(paths.key, "listen.key")];
	const parsed = reading(paths.certificate, "listen.certificate", "is no certificate in PEM form", () => new X509Certificate(cert));
	const secretKey = reading(paths.key, "listen.key", "is no private key in PEM form without a password", () => createPrivateKey(key));
	if (!parsed.checkPrivateKey(secretKey))
		throw new SluiceError("invalid", `listen.key: ${paths.key} is not the key of the certificate ${paths.certificate}`, {
			field: "listen.key",
			hint: "give the two files that were made together",
		});
	return described(cert, key, "given");
}

function readPem(path: string, field: string): string {
	// Reading a pipe would block the daemon for ever.
	const kind = kindOf(path);
	if (kind !== null && kind !== "file")
		throw new SluiceError("invalid", `${field}: ${path} is a ${kind}`, { field, hint: "name a file in PEM form" });
	return reading(path, field, "cannot be read", () => readFileSync(path, "utf8"));
}

function reading<T>(path: string, field: string, what: string, read: () => T): T {
	try {
		return read();
	} catch (error) {
		const missing = codeOf(error) === "ENOENT";
		throw new SluiceError("invalid", `${field}: ${missing ? `there is no file ${path}` : `${path} ${what}`}`, {
			field,
			hint: missing ? "name the file with its whole path" : messageOf(error),
		});
	}
}

function described(cert: string, key: string, whose: "own" | "given"): ServerCertificate {
	const parsed = new X509Certificate(cert);
	const pin = createHash("sha256")
		.update(publicKeyOf(createPrivateKey(key)))
		.digest("base64");
	return { cert, key, fingerprint: parsed.fingerprint256, pin: `sha256//${pin}`, own: whose === "own", until: Date.parse(parsed.validTo) };
}

const publicKeyOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: "spki", format: "der" });
