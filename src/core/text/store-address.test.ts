// Addresses of stores: no password is shown, however it is written.

import { expect, test } from "vitest";
import { secretsIn, shownStore } from "./store-address.ts";

test.each([
	["/var/lib/sluice.db", "/var/lib/sluice.db", []],
	["postgres://db/sluice", "postgres://db/sluice", []],
	["postgres://ann@db:5432/sluice", "postgres://ann@db:5432/sluice", []],
	["postgres://ann:s3cret@db/sluice", "postgres://ann:***@db/sluice", ["s3cret", "s3cret"]],
	["postgresql://ann:s%40c:r@t@db/x?schema=a", "postgresql://ann:***@db/x?schema=a", ["s%40c:r@t", "s@c:r@t"]],
	["postgres://db/x?user=ann&password=s3cret&a=b", "postgres://db/x?user=ann&password=***&a=b", ["s3cret", "s3cret"]],
	["postgres://:p@db/x", "postgres://:***@db/x", ["p", "p"]],
	["postgres://a:b%zz@db/x", "postgres://a:***@db/x", ["b%zz", "b%zz"]],
])("%s", (store, shown, secrets) => {
	expect(shownStore(store)).toBe(shown);
	expect(secretsIn(store)).toEqual(secrets);
	expect(secrets.filter((one) => one.length > 1 && shown.includes(one))).toEqual([]);
});
