// What changes in the repos of this host: facts are looked at again, and jobs that wait for them.

import { watchRepos } from "../host/repo-watch.ts";
import type { Host } from "../host.ts";
import type { Log } from "../log.ts";
import type { Scheduler } from "../scheduler.ts";
import { atOnce } from "./at-once.ts";

type Watched = Parameters<typeof watchRepos>[0];

export function followRepos(parts: {
	host: Host & { files: Watched["files"]; stir(repo: string): void };
	repos: Watched["repos"];
	stir: (repo: string) => void;
	scheduler: Pick<Scheduler, "tick">;
	log: Log;
}): ReturnType<typeof watchRepos> {
	const { host, repos, stir, scheduler, log } = parts;
	const looking = atOnce(
		() => scheduler.tick(),
		(error) => log.warn("a look at what has changed failed", { error }),
	);
	return watchRepos({
		host,
		repos,
		files: host.files,
		changed: (name) => {
			host.stir(name);
			stir(name);
			looking();
		},
	});
}
