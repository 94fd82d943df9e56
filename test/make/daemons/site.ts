// A daemon with its HTTP side, and short words for adding jobs to it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TestHome } from "./daemon.ts";

export type Site = {
	home: TestHome;
	url: string;
	token: string;
	viewer: string;
	client: Awaited<ReturnType<TestHome["up"]>>["client"];
	/** Adds a job; its number. */
	add(input: Record<string, unknown>): Promise<number>;
	/** A script of the shell. */
	sh(script: string, more?: Record<string, unknown>): Promise<number>;
};

export async function openSite(config = "", env: Record<string, string> = {}): Promise<Site> {
	const home = new TestHome();
	home.make(config);
	const { client } = await home.up(env);
	const { port } = await client.call("scheduler.version", {});
	const read = (name: string) => readFileSync(join(home.path, name), "utf8").trim();
	const add = async (input: Record<string, unknown>) => {
		const result = await client.call("job.add", { cwd: "/", ...input });
		if (result.outcome !== "queued") throw new Error(JSON.stringify(result));
		return result.job.id;
	};
	return {
		home,
		client,
		url: `http://127.0.0.1:${port}/`,
		token: read("token"),
		viewer: read("viewer-token"),
		add,
		sh: (script, more = {}) => add({ command: ["/bin/sh", "-c", script], ...more }),
	};
}
