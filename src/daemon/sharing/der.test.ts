// DER by the examples of X.690 and RFC 5280.

import { expect, test } from "vitest";
import * as der from "./der.ts";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

test("lengths: one byte below 128, then as many as are needed", () => {
	expect(hex(der.octets(Buffer.alloc(127))).slice(0, 4)).toBe("047f");
	expect(hex(der.octets(Buffer.alloc(128))).slice(0, 6)).toBe("048180");
	expect(hex(der.octets(Buffer.alloc(256))).slice(0, 8)).toBe("04820100");
	expect(hex(der.octets(Buffer.alloc(65_536))).slice(0, 10)).toBe("0483010000");
});

test("integers are not negative and have no needless zeros", () => {
	expect([[], [0], [0, 0, 5], [127], [128], [0, 255, 1]].map((bytes) => hex(der.integer(Buffer.from(bytes))))).toEqual([
		"020100",
		"020100",
		"020105",
		"02017f",
		"02020080",
		"020300ff01",
	]);
});

test("object identifiers, with arcs of several bytes", () => {
	expect(hex(der.objectId("1.2.840.10045.4.3.2"))).toBe("06082a8648ce3d040302");
	expect(hex(der.objectId("2.5.29.17"))).toBe("0603551d11");
	expect(hex(der.objectId("1.3.6.1.5.5.7.3.1"))).toBe("06082b06010505070301");
	expect(hex(der.objectId("2.5.4.127.128.16384"))).toBe("060855047f8100818000");
});

test("times: two digits of the year until 2049, four from 2050 on", () => {
	expect(der.time(Date.parse("2049-12-31T23:59:59.999Z")).toString("latin1")).toBe("\x17\x0d491231235959Z");
	expect(der.time(Date.parse("2050-01-01T00:00:00Z")).toString("latin1")).toBe("\x18\x0f20500101000000Z");
});

test("nesting, tags of a context, texts, bits", () => {
	expect(hex(der.sequence(der.set(der.text("ä")), der.TRUE))).toBe("300931040c02c3a40101ff");
	expect(hex(der.explicit(3, der.octets()))).toBe("a3020400");
	expect(hex(der.implicit(2, Buffer.from("a")))).toBe("820161");
	expect(hex(der.bits(Buffer.from([5])))).toBe("03020005");
});

test("PEM has lines of 64 characters", () => {
	const lines = der.pem("CERTIFICATE", Buffer.alloc(100)).split("\n");
	expect([lines[0], lines[1]?.length, lines.at(-2)]).toEqual(["-----BEGIN CERTIFICATE-----", 64, "-----END CERTIFICATE-----"]);
});
