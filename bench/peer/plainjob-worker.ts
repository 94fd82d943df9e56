// One worker process of plainjob, as its README forks them: works until its parent tells it to stop.

import { defineQueue, defineWorker } from "plainjob";
import { betterLike } from "./better-like.ts";
import { SILENT } from "./plainjob.ts";

const [path] = process.argv.slice(2) as [string];
const queue = defineQueue({ connection: betterLike(path), logger: SILENT });
const worker = defineWorker("bench", async () => {}, { queue, logger: SILENT });

process.on("message", async (message) => {
	if (message === "go") await worker.start();
	else {
		await worker.stop();
		queue.close();
		process.disconnect();
	}
});
process.send?.("ready");
