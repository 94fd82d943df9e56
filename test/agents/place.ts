// Where a test of real agent programs takes place: a folder of its own, a fake API, the programs on the path, all gone when the test ends.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AgentName } from "../../src/core/agents/profile.ts";
import { makeFolder } from "../make/folder.ts";
import { FakeApi } from "./fake-api/server.ts";
import { binFolder, cacheFolder, install } from "./install.ts";
import { newestOf } from "./programs.ts";
import { type Allowed, type Login, makeSandbox, type Sandbox } from "./sandbox.ts";

export class Place {
	private constructor(
		readonly agent: AgentName,
		readonly version: string,
		readonly folder: string,
		readonly api: FakeApi,
		/** The program's folder, in front of the usual path. */
		readonly path: string,
	) {}

	static async open(agent: AgentName, version = newestOf(agent)): Promise<Place> {
		const cache = cacheFolder();
		const installed = await install(agent, version, cache);
		const folder = makeFolder();
		const api = await FakeApi.open();
		onTestFinished(() => api.close());
		return new Place(agent, version, folder, api, `${binFolder([installed], cache)}:${process.env.PATH}`);
	}

	account(key: string, login: Login = "api_key", allowed: Allowed = "tools"): Sandbox {
		return makeSandbox(this.agent, this.folder, this.api.url, key, login, allowed);
	}

	/** A folder with a git repository to work in. */
	workFolder(name = "work"): string {
		const folder = join(this.folder, name);
		mkdirSync(folder, { recursive: true });
		execFileSync("git", ["init", "-q", folder]);
		return folder;
	}
}
