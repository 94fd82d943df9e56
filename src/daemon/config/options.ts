// The options that a daemon is started with, besides its settings.

import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { StartRequest } from "../../api/daemon-module.ts";
import { orElse } from "../../core/errors.ts";
import type { Home } from "../service/home.ts";
import { writeWhole } from "../service/write-file.ts";

/** What is given here overrides the settings. */
export type DaemonOptions = Omit<StartRequest, "port"> & {
	port?: number | null | undefined;
	env?: Record<string, string | undefined>;
	/** Receives each line of the log, for a person who watches. */
	echo?: (line: string) => void;
};

/** Layers besides config.yml: flags override it, remembered values are overridden by it. */
export const givenTo = (options: DaemonOptions, { path, zone }: Pick<Home, "path" | "zone">) => ({
	flags: flagsOf(options),
	remembered: {
		...(zone === "local" ? { "this machine's zone": { timezone: "local" } } : {}),
		...hostLayers("the last sluice up ", rememberedIn(path)),
	},
});

const flagsOf = ({ port, store, ...host }: DaemonOptions): Record<string, Record<string, unknown>> => ({
	...(port === undefined ? {} : { "--port": { port } }),
	...(store === undefined ? {} : { "--store": { store } }),
	...hostLayers("", host),
});

type HostOptions = Pick<DaemonOptions, "name" | "labels">;

/** `whose` precedes the name of the option. */
const hostLayers = (whose: string, { name, labels = [] }: HostOptions): Record<string, Record<string, unknown>> => ({
	...(name === undefined ? {} : { [`${whose}--name`]: { host: { name } } }),
	...(labels.length === 0 ? {} : { [`${whose}--label`]: { host: { labels } } }),
});

/**
 * The host's name and labels, if an earlier command line gave them: a daemon that is restarted after a crash has no command line and must not come back as
 * another host. Settings override them.
 */
function rememberedIn(home: string): HostOptions {
	try {
		const { name, labels } = JSON.parse(readFileSync(join(home, "host.json"), "utf8"));
		return { name: typeof name === "string" ? name : undefined, labels: Array.isArray(labels) ? labels : undefined };
	} catch {
		return {};
	}
}

/** Called once the daemon has joined under this name. What this command line does not give stays as it was. */
export function remember(home: string, { name, labels = [] }: DaemonOptions): void {
	if (name === undefined && labels.length === 0) return;
	const before = rememberedIn(home);
	const kept = { name: name ?? before.name, labels: labels.length > 0 ? labels : before.labels };
	writeWhole(join(home, "host.json"), `${JSON.stringify(kept)}\n`);
}

export const userName = (env: Record<string, string | undefined>): string => orElse(() => userInfo().username, env.USER ?? "owner");
