// Which owners and modes of a path are trusted, by example.

import { describe, expect, test } from "vitest";
import { distrustAbove, distrustFolder, distrustSocket, type PathPart } from "./path.ts";

const ann = { uid: 1000, gid: 1000, rootOwner: 0 };
const part = (more: Partial<PathPart>): PathPart => ({ path: "/p", kind: "folder", uid: 1000, gid: 1000, mode: 0o700, ...more });

describe("a folder above", () => {
	test.each([
		["root's, closed", { uid: 0, gid: 0, mode: 0o755 }, null],
		["one's own", {}, null],
		["sticky, as /tmp", { uid: 0, gid: 0, mode: 0o1777 }, null],
		["one's own, with the group of the same number", { mode: 0o775 }, null],
		["open to all", { uid: 0, mode: 0o777 }, "/p can be changed by other users (mode 777)"],
		["open to a shared group", { gid: 100, mode: 0o775 }, "/p can be changed by other users (mode 775)"],
		["another user's", { uid: 1001, mode: 0o755 }, "/p belongs to another user (1001), who could replace what is in it"],
		["another user's, sticky", { uid: 1001, mode: 0o1777 }, "/p belongs to another user (1001), who could replace what is in it"],
	])("%s", (_, more, what) => {
		expect(distrustAbove(part(more), ann)?.what ?? null).toBe(what);
	});

	test("a group of the same number as its user is no exception for a user with another number", () => {
		expect(distrustAbove(part({ gid: 20, mode: 0o775 }), { uid: 501, gid: 20, rootOwner: 0 })).not.toBeNull();
		expect(distrustAbove(part({ uid: 501, gid: 20, mode: 0o770 }), { uid: 501, gid: 20, rootOwner: 0 })?.hint).toMatch(/^chmod g-w \/p;/);
	});

	test("in a user namespace the owner of the root folder counts as root", () => {
		const nobody = part({ uid: 65_534, gid: 65_534, mode: 0o755 });
		expect(distrustAbove(nobody, { ...ann, rootOwner: 65_534 })).toBeNull();
		expect(distrustAbove(nobody, ann)).not.toBeNull();
	});
});

describe("the folder of the socket, and the socket", () => {
	test.each([
		["one's own, closed", {}, null],
		["open to read", { mode: 0o755 }, "/p is open to other users (mode 755)"],
		["open to the own group", { mode: 0o770 }, "/p is open to other users (mode 770)"],
		["root's", { uid: 0 }, "/p belongs to another user (0)"],
		["a link", { kind: "link" as const }, "/p is no folder"],
	])("folder: %s", (_, more, what) => {
		expect(distrustFolder(part(more), ann)?.what ?? null).toBe(what);
	});

	test.each([
		["one's own", { kind: "socket" as const, mode: 0o600 }, null],
		["another user's", { kind: "socket" as const, uid: 7, mode: 0o777 }, "/p belongs to another user (7)"],
		["a link", { kind: "link" as const }, "/p is a link, where a socket is expected"],
	])("socket: %s", (_, more, what) => {
		expect(distrustSocket(part(more), ann)?.what ?? null).toBe(what);
	});

	test("the hint fits the caller", () => {
		expect(distrustFolder(part({}), { uid: 0, gid: 0, rootOwner: 0 })?.hint).toContain("sudo -u '#1000' sluice");
		expect(distrustFolder(part({ uid: 7 }), ann)?.hint).toContain("sluice open --viewer");
	});
});
