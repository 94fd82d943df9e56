// A home is made, repaired, or refused with a message.

import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../../test/make/folder.ts";
import { homePath, networkKind, prepareHome } from "./home.ts";

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

test("is where SLUICE_HOME says, else .sluice in the user's own", () => {
	expect(homePath({ SLUICE_HOME: "/x/y", HOME: "/home/a" })).toBe("/x/y");
	expect(homePath({ HOME: "/home/a" })).toBe("/home/a/.sluice");
	expect(homePath({ SLUICE_HOME: "", HOME: "/home/a" })).toBe("/home/a/.sluice");
});

test("is made for its owner alone, with tokens and a tag that stay", () => {
	const path = join(makeFolder(), "deep", "home");
	const home = prepareHome(path);
	expect([mode(path), mode(join(path, "token")), mode(join(path, "viewer-token")), mode(home.runs)]).toEqual(["700", "600", "600", "700"]);
	expect(Buffer.from(home.tokens.admin, "base64url")).toHaveLength(32);
	expect(home.tokens.viewer).not.toBe(home.tokens.admin);
	expect(home.tag).toMatch(/^[a-z0-9]{6}$/);
	expect(prepareHome(path)).toEqual(home);
	expect(readFileSync(join(path, "token"), "utf8").trim()).toBe(home.tokens.admin);
});

test("that is open to other users is closed, with a message", () => {
	const path = join(makeFolder(), "home");
	mkdirSync(path);
	chmodSync(path, 0o755);
	writeFileSync(join(path, "token"), "mine\n");
	chmodSync(join(path, "token"), 0o644);
	const home = prepareHome(path);
	expect([mode(path), mode(join(path, "token")), home.tokens.admin]).toEqual(["700", "600", "mine"]);
	expect(home.repaired).toHaveLength(2);
	expect(home.repaired[0]).toContain("was open to others (755)");
	expect(prepareHome(path).repaired).toEqual([]);
});

test("an empty token is no token", () => {
	const path = makeFolder();
	writeFileSync(join(path, "token"), "");
	expect(prepareHome(path).tokens.admin).toHaveLength(43);
});

test("on a network file system is refused", () => {
	const types = { nfs: 0x6969, smb: 0x517b, cifs: 0xff534d42 | 0, smb2: 0xfe534d42, afs: 0x5346414f };
	for (const [kind, type] of Object.entries(types)) expect(networkKind("/", () => type)).toBe(kind);
	expect(networkKind("/", () => 0xef53)).toBe(null);
	expect(() => prepareHome(makeFolder(), { typeOf: () => 0x6969 })).toThrow(/network file system \(nfs\).*locks/);
});

test("that cannot be made says why", () => {
	const folder = makeFolder();
	writeFileSync(join(folder, "file"), "");
	expect(() => prepareHome(join(folder, "file"))).toThrow(/is not a folder/);
	expect(() => prepareHome(join(folder, "file", "home"))).toThrow(/is not a folder/);
	expect(() => prepareHome("/proc/nowhere/home")).toThrow(/the home \/proc\/nowhere\/home/);
});

test("may be a link", () => {
	const folder = makeFolder();
	mkdirSync(join(folder, "real"));
	symlinkSync(join(folder, "real"), join(folder, "link"));
	expect(prepareHome(join(folder, "link")).path).toBe(join(folder, "real"));
});
