// Last step of a start: heartbeats, runs of an earlier daemon are found again, claims begin; then merges, watches, triggers (cron slots, file watches), webhooks
// and daemon.json.

import type { OutputRequest } from "../../contracts/output.ts";
import { localHost } from "../../host/local.ts";
import { watchRepos } from "../../host/repo-watch.ts";
import { workMark } from "../../workspaces/orphans.ts";
import { coalesce } from "../coalesce.ts";
import { keepRecord } from "../service/lock.ts";
import { answerAudit } from "../sharing/audit-of-fleet.ts";
import type { DoorStage, Stages } from "./doors.ts";
import type { Undo } from "./undo.ts";

export async function begin(stages: Stages, doors: DoorStage, undo: Undo): Promise<void> {
	const { home, log, version, startedAt } = stages.home;
	const { store, hostName } = stages.config;
	const { scheduler, lease, config, settings } = stages.queue;
	const { intake, triggers, webhooks, processes, work } = stages.work;
	const { supervisor, others } = stages.runs;
	const { stopping, serving } = doors;
	lease.start({
		lost: () => supervisor.lookAgain(),
		also: () => settings.offer(),
		overtaken: (why) => {
			log.error(`the daemon stops: ${why}`);
			void stopping.stop({ runs: "stop", by: "lease" }).catch((error) => log.error("stopping failed", { error }));
		},
	});
	const found = await supervisor.start();
	await intake.start();
	doors.ready();
	if (others) {
		const answer = async (question: OutputRequest) =>
			question.what === "audit" ? answerAudit(doors.audit, question) : others.answer(question);
		undo.push(scheduler.outputs.answer(answer));
		others.backfill().catch((error) => log.warn("earlier runs could not be kept for other hosts", { error }));
	}
	work.start();
	undo.push(() => {
		const mark = workMark(home.tag);
		processes.signalAll(mark, processes.sweep([mark]).get(mark) ?? [], "SIGTERM");
		return work.stop();
	});
	undo.push(followRepos(stages));
	const [{ pid }, { port }] = [process, serving];
	undo.push(keepRecord(home.record, { pid, version, port, started_at: new Date(startedAt).toISOString() }));
	config.follow();
	await triggers.reload();
	webhooks.start();
	stopping.ready();
	if (store.shared)
		log.info("this host shares a store", { host: hostName, labels: config.settings().host.labels.join(","), store: store.shown });
	log.info("the daemon is up", { pid, version, port, ...found });
}

/** Probes again when a repo has changed, and goes on with the merges that wait for it. */
function followRepos({ home: { log }, queue: { scheduler }, work: { host, work, placed } }: Stages): () => void {
	const probeAgain = coalesce(
		() => scheduler.tick(),
		(error) => log.warn("a look at what has changed failed", { error }),
	);
	const watching = watchRepos({
		host: localHost,
		repos: placed,
		files: host.files,
		changed: (name) => {
			host.stir(name);
			work.stir(name);
			probeAgain();
		},
	});
	watching.look();
	return () => watching.close();
}
