// Certificates of a test's own: an authority, and a server's that it signed. Made with openssl; null where there is none.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** In `folder`: ca.crt, server.crt, server.key. */
export function makeCertificates(folder: string, name: string): { ca: string; cert: string; key: string } | null {
	const openssl = (...args: string[]) => {
		const { status, error, stderr } = spawnSync("openssl", args, { cwd: folder, encoding: "utf8" });
		if (error) return false;
		if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`);
		return true;
	};
	const EC = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
	if (!openssl("req", "-x509", ...EC, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=authority of a test")) return null;
	openssl(
		"req",
		"-x509",
		...EC,
		"-keyout",
		"server.key",
		"-out",
		"server.crt",
		"-subj",
		`/CN=${name}`,
		"-addext",
		`subjectAltName=DNS:${name}`,
		"-CA",
		"ca.crt",
		"-CAkey",
		"ca.key",
	);
	return {
		ca: join(folder, "ca.crt"),
		cert: readFileSync(join(folder, "server.crt"), "utf8"),
		key: readFileSync(join(folder, "server.key"), "utf8"),
	};
}
