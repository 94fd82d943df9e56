// The walks through the five documents, once more, with every daemon's store on PostgreSQL: a database for all, a schema for each home.

import { afterAll, beforeAll } from "vitest";
import { placeHomes } from "../make/daemons/daemon.ts";
import { isLong } from "../make/long.ts";
import { type Server, startServer } from "../make/stores/postgres-server.ts";

let server: Server;
beforeAll(async () => {
	server = await startServer();
});
afterAll(() => server?.end());

const schemas = new Map<string, string>();
placeHomes(async (home) => {
	const schema = schemas.get(home) ?? `home_${schemas.size + 1}`;
	schemas.set(home, schema);
	return { SLUICE_STORE: `${server.url()}?schema=${schema}` };
});

await import("./000-walk.test.ts");
if (isLong) {
	await import("./001-walk.test.ts");
	await import("./002-walk.test.ts");
	await import("./003-walk.test.ts");
}
