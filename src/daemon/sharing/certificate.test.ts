// The daemon's own certificate: taken by TLS clients, kept, renewed with the same key. And certificates that are given by files.

import { spawnSync } from "node:child_process";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { connect, createServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { makeCertificates } from "../../../test/make/stores/certificate.ts";
import { systemClock } from "../../host/local.ts";
import { addressBytes, givenCertificate, ownCertificate, type ServerCertificate } from "./certificate.ts";

const DAY = 86_400_000;
const NAMES = ["box.example", "localhost", "127.0.0.1", "::1"];

/** Whether a client that trusts this certificate alone gets through to a server of that name. */
async function isTaken({ cert, key }: ServerCertificate, name: string): Promise<boolean> {
	const server = createServer({ cert, key }, (socket) => socket.end());
	onTestFinished(() => void server.close());
	await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
	const { port } = server.address() as AddressInfo;
	return new Promise((resolve) => {
		const socket = connect({ host: "127.0.0.1", port, ca: cert, servername: name }, () => resolve(socket.authorized));
		socket.on("error", () => resolve(false));
	});
}

describe("the daemon's own", () => {
	test("is taken by a TLS client under its names, and under no other; only the owner can read its key", async () => {
		const home = makeFolder();
		const own = ownCertificate(home, NAMES, systemClock.now());
		expect(await isTaken(own, "box.example")).toBe(true);
		expect(await isTaken(own, "other.example")).toBe(false);
		const parsed = new X509Certificate(own.cert);
		expect(parsed.subjectAltName).toBe("DNS:box.example, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
		expect(parsed.verify(parsed.publicKey)).toBe(true);
		expect(parsed.checkPrivateKey(createPrivateKey(own.key))).toBe(true);
		expect(parsed.ca).toBe(false);
		for (const name of ["tls.key", "tls.crt"]) expect([name, statSync(join(home, name)).mode & 0o777]).toEqual([name, 0o600]);
	});

	test("is what openssl reads, if there is one", () => {
		const home = makeFolder();
		ownCertificate(home, NAMES, systemClock.now());
		const path = join(home, "tls.crt");
		const { status, stdout, error } = spawnSync("openssl", ["verify", "-CAfile", path, path], { encoding: "utf8" });
		if (!error) expect([status, stdout.trim()]).toEqual([0, `${path}: OK`]);
	});

	test("stays the same until a name is missing or it ends; then it is made anew, and the pin of its key stays", () => {
		const [home, now] = [makeFolder(), systemClock.now()];
		const first = ownCertificate(home, NAMES, now);
		expect(ownCertificate(home, NAMES, now + 700 * DAY)).toEqual(first);
		for (const later of [
			ownCertificate(home, [...NAMES, "10.0.0.7"], now),
			ownCertificate(home, NAMES, now + 790 * DAY),
			ownCertificate(home, NAMES, now - 4000 * DAY),
		]) {
			expect(later.pin).toBe(first.pin);
			expect(later.fingerprint).not.toBe(first.fingerprint);
		}
		writeFileSync(join(home, "tls.crt"), "garbage");
		expect(ownCertificate(home, NAMES, now).pin).toBe(first.pin);
	});

	test("counts for clients whose clocks are a day off, either way", () => {
		const now = systemClock.now();
		const { validFrom, validTo } = new X509Certificate(ownCertificate(makeFolder(), NAMES, now).cert);
		expect(Date.parse(validFrom)).toBeLessThan(now - DAY);
		expect(Date.parse(validTo)).toBeGreaterThan(now + DAY);
	});

	test("a key that cannot be read is not silently replaced: clients have pinned it", () => {
		const home = makeFolder();
		writeFileSync(join(home, "tls.key"), "garbage");
		expect(() => ownCertificate(home, NAMES, systemClock.now())).toThrow("tls.key cannot be used");
	});
});

test("addresses as bytes", () => {
	expect(addressBytes("10.0.0.7", 4).toString("hex")).toBe("0a000007");
	expect(addressBytes("::1", 6).toString("hex")).toBe(`${"0".repeat(31)}1`);
	expect(addressBytes("2001:db8::ff00:42:8329", 6).toString("hex")).toBe("20010db8000000000000ff0000428329");
	expect(addressBytes("::ffff:10.0.0.7", 6).toString("hex")).toBe("00000000000000000000ffff0a000007");
});

describe("one that is given by files", () => {
	test("is taken; a missing file, a folder, a text, another key are refused in one line that names the file", () => {
		const folder = makeFolder();
		const made = makeCertificates(folder, "box.example");
		if (!made) return;
		const [certificate, key] = [join(folder, "server.crt"), join(folder, "server.key")];
		expect(givenCertificate({ certificate, key })).toMatchObject({ own: false, cert: readFileSync(certificate, "utf8") });
		const [none, dir, words] = [join(folder, "none"), join(folder, "dir"), join(folder, "words")];
		mkdirSync(dir);
		writeFileSync(words, "words");
		const refusal = (given: { certificate: string; key: string }) => {
			try {
				givenCertificate(given);
			} catch (error) {
				return (error as Error).message.replaceAll(folder, "");
			}
			return "taken";
		};
		expect([
			refusal({ certificate: none, key }),
			refusal({ certificate: dir, key }),
			refusal({ certificate: words, key }),
			refusal({ certificate, key: none }),
			refusal({ certificate, key: words }),
			refusal({ certificate, key: join(folder, "ca.key") }),
		]).toEqual([
			"listen.certificate: there is no file /none",
			"listen.certificate: /dir is a folder",
			"listen.certificate: /words is no certificate in PEM form",
			"listen.key: there is no file /none",
			"listen.key: /words is no private key in PEM form without a password",
			"listen.key: /ca.key is not the key of the certificate /server.crt",
		]);
		rmSync(folder, { recursive: true });
	});
});
