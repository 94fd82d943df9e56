// Several hosts on one store: a daemon each, a process of its own with a home of its own, all on one file.

import { join } from "node:path";
import type { Client } from "../../../src/api/client.ts";
import { makeFolder } from "../folder.ts";
import { TestHome } from "./daemon.ts";
import { makeProgram } from "./program.ts";

export const HOST_DAEMON = "test/make/daemons/host-daemon.ts";
let program: string | undefined;

export class TestHost extends TestHome {
	constructor(
		readonly name: string,
		readonly store: string,
	) {
		super(join(makeFolder(), name));
	}

	/** Another program than that of this build. */
	program: string | undefined;

	protected override argv(): string[] {
		program ??= makeProgram(HOST_DAEMON);
		return [this.program ?? program, this.path, this.store, this.name];
	}
}

/** Hosts by these names, up and connected, each with its own configuration. */
export async function hosts<N extends string>(
	configs: Record<N, string>,
	store = join(makeFolder(), "shared.db"),
	env: Record<string, string> = {},
): Promise<Record<N, TestHost & { client: Client }>> {
	const all: [string, TestHost & { client: Client }][] = [];
	for (const [name, config] of Object.entries<string>(configs)) {
		const host = new TestHost(name, store);
		host.make(config);
		const { client } = await host.up(env);
		all.push([name, Object.assign(host, { client })]);
	}
	return Object.fromEntries(all) as Record<N, TestHost & { client: Client }>;
}
