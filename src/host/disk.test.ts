// The disk's promises, on a real folder.

import { chmodSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { localDisk as disk } from "./disk.ts";

const mode = (path: string) => statSync(path).mode & 0o777;
const words = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("folders and files are for the owner alone", () => {
	const home = makeFolder();
	expect(disk.makeFolder(join(home, "a/b/c"))).toBe("made");
	expect(disk.makeFolder(join(home, "a/b/c"))).toBe("there");
	disk.write(join(home, "a/one"), "1");
	disk.replace(join(home, "a/two"), "2");
	disk.append(join(home, "a/three"), "3");
	expect([mode(join(home, "a")), mode(join(home, "a/b/c"))]).toEqual([0o700, 0o700]);
	expect(["one", "two", "three"].map((name) => mode(join(home, "a", name)))).toEqual([0o600, 0o600, 0o600]);
});

test("write and replace leave exactly the new text, and no draft", () => {
	const path = join(makeFolder(), "file");
	disk.write(path, "long before ä");
	disk.write(path, "ö");
	expect(disk.read(path)).toBe("ö");
	disk.replace(path, "ü\n");
	expect(disk.read(path)).toBe("ü\n");
	disk.append(path, "more");
	expect(disk.read(path)).toBe("ü\nmore");
	expect(readdirSync(join(path, ".."))).toEqual(["file"]);
});

test("reads from an offset, to the end and beyond", () => {
	const path = join(makeFolder(), "log");
	disk.write(path, "0123456789");
	expect(words(disk.readAt(path, 3, 4))).toBe("3456");
	expect(words(disk.readAt(path, 8, 100))).toBe("89");
	expect(words(disk.readAt(path, 10, 5))).toBe("");
	expect(words(disk.readAt(path, 99, 5))).toBe("");
	expect(words(disk.readAt(join(path, "../none"), 0, 5))).toBe("");
});

test("who appends to a file that was cut goes on at its new end", () => {
	const path = join(makeFolder(), "log");
	disk.append(path, "0123456789");
	disk.cut(path, 4);
	disk.append(path, "x");
	expect(disk.read(path)).toBe("0123x");
	expect(disk.size(path)).toBe(5);
});

test("what is not there is null or empty, and removing it is no error", () => {
	const none = join(makeFolder(), "none");
	expect([disk.read(none), disk.size(none), disk.changedAt(none), disk.list(none)]).toEqual([null, null, null, []]);
	expect(() => disk.remove(none)).not.toThrow();
	expect(disk.read(join(none, "below"))).toBeNull();
});

test("lists, dates and removes folders with all they hold", () => {
	const home = makeFolder();
	disk.makeFolder(join(home, "x/y"));
	writeFileSync(join(home, "x/y/z"), "");
	expect(disk.list(home)).toEqual(["x"]);
	expect(disk.changedAt(join(home, "x"))).toBeGreaterThan(0);
	disk.move(join(home, "x"), join(home, "w"));
	expect(disk.list(join(home, "w/y"))).toEqual(["z"]);
	disk.remove(join(home, "w"));
	expect(disk.list(home)).toEqual([]);
	expect(disk.free(home)).toBeGreaterThan(0);
});

test("what the disk refuses has the system's code", () => {
	const home = makeFolder();
	writeFileSync(join(home, "file"), "");
	chmodSync(join(home, "file"), 0o600);
	expect(() => disk.makeFolder(join(home, "file/below"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
	expect(() => disk.replace(join(home, "none/file"), "x")).toThrow(expect.objectContaining({ code: "ENOENT" }));
});
