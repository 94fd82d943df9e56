// The disk's promises, on a real folder.

import { execFileSync } from "node:child_process";
import {
	chmodSync,
	closeSync,
	constants,
	openSync,
	readdirSync,
	statSync,
	symlinkSync,
	truncateSync,
	writeFileSync,
	writeSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../test/make/folder.ts";
import { localDisk as disk } from "./disk.ts";
import { readSmall } from "./processes/reading.ts";

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

test("an append after `cut` continues at the new end", () => {
	const path = join(makeFolder(), "log");
	disk.append(path, "0123456789");
	disk.cut(path, 4);
	disk.append(path, "x");
	expect(disk.read(path)).toBe("0123x");
	expect(disk.size(path)).toBe(5);
});

test("a missing file reads as null or empty, and removing it is no error", () => {
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
});

test("an error of the disk has the system's code", () => {
	const home = makeFolder();
	writeFileSync(join(home, "file"), "");
	chmodSync(join(home, "file"), 0o600);
	expect(() => disk.makeFolder(join(home, "file/below"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
	expect(() => disk.replace(join(home, "none/file"), "x")).toThrow(expect.objectContaining({ code: "ENOENT" }));
});

test("what a run put in place of a file never blocks a reader: FIFOs, devices, folders, huge files", () => {
	const home = makeFolder();
	const [fifo, giant, endless] = ["fifo", "giant", "endless"].map((name) => join(home, name)) as [string, string, string];
	execFileSync("mkfifo", [fifo]);
	writeFileSync(giant, "x");
	truncateSync(giant, 100_000_000_000);
	symlinkSync("/dev/zero", endless);
	for (const path of [fifo, endless, home]) {
		expect(disk.read(path)).toBeNull();
		expect(disk.readAt(path, 0, 10)).toHaveLength(0);
	}
	expect(disk.read(giant)).toBeNull();
	expect(words(disk.readAt(giant, 0, 2))).toBe("x\0");
	expect(() => disk.write(fifo, "x")).toThrow(/ENXIO/);
	expect(() => disk.append(fifo, "x")).toThrow(/ENXIO/);
	expect(readSmall(fifo)).toHaveLength(0);
	for (const path of [giant, endless, home]) expect(readSmall(path)).toBeNull();
});

test("a FIFO that a writer has open is not read as a small file", async () => {
	const path = join(makeFolder(), "exit");
	execFileSync("mkfifo", [path]);
	const held = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
	try {
		expect(readSmall(path)).toBeNull();
		expect(disk.read(path)).toBeNull();
		writeSync(held, "1 0\n");
		expect(disk.read(path)).toBeNull();
	} finally {
		closeSync(held);
	}
});

test("nothing is written through a link or into a FIFO that a run put in place of a file", () => {
	const home = makeFolder();
	const [mine, link, dangling, fifo] = ["mine", "link", "dangling", "fifo"].map((name) => join(home, name)) as [
		string,
		string,
		string,
		string,
	];
	writeFileSync(mine, "precious");
	symlinkSync(mine, link);
	symlinkSync(join(home, "new"), dangling);
	execFileSync("mkfifo", [fifo]);
	const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
	try {
		for (const act of [
			(path: string) => disk.write(path, "x"),
			(path: string) => disk.append(path, "x"),
			(path: string) => disk.cut(path, 2),
		]) {
			expect(() => act(link)).toThrow(expect.objectContaining({ code: "ELOOP" }));
			expect(() => act(dangling)).toThrow(expect.objectContaining({ code: "ELOOP" }));
			expect(() => act(fifo)).toThrow(expect.objectContaining({ code: "EINVAL" }));
		}
		expect(disk.read(mine)).toBe("precious");
		expect(readdirSync(home).sort()).toEqual(["dangling", "fifo", "link", "mine"]);
		// Written anew beside it, and put in its place: the link goes, its target stays.
		disk.replace(link, "x");
		expect([disk.read(mine), disk.read(link)]).toEqual(["precious", "x"]);
	} finally {
		closeSync(reader);
	}
});
