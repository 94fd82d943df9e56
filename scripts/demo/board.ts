// What is known of the jobs at a moment, and the words for it. While there is no daemon, what was known last, and what the runs go on writing.

import type { StatusDocument } from "../../src/api/documents/status.ts";
import type { EventDocument, JobDocument, ReasonDocument } from "../../src/api/documents.ts";
import type { Reason } from "../../src/core/reason.ts";
import { clock, type Line } from "./paint.ts";
import type { Session } from "./session.ts";
import { BATCH } from "./story.ts";

export type Run = { name: string; job: number; attempt: number; pid: number };

export class Board {
	jobs: JobDocument[] = [];
	status: StatusDocument | undefined;
	private reasons = new Map<number, ReasonDocument[]>();
	private names = new Map<number, string>();

	constructor(readonly session: Session) {}

	learn(names: Record<string, number>): void {
		for (const [name, id] of Object.entries(names)) this.names.set(id, name);
	}

	id(name: string): number {
		for (const [id, one] of this.names) if (one === name) return id;
		throw new Error(`there is no job ${name}`);
	}

	named = (id: number | null): string => this.names.get(id ?? 0) ?? `job ${id}`;

	async refresh(): Promise<void> {
		const { session } = this;
		if (session.pid === undefined) return;
		try {
			const [{ jobs }, status] = await Promise.all([
				session.call("job.list", { all: true, batch: BATCH }),
				session.call("scheduler.status", {}),
			]);
			const waiting = jobs.filter((job) => job.run === null && job.ended_at === null);
			const asked = waiting.map(async ({ id }) => [id, (await session.call("job.why", { id })).reasons] as const);
			this.reasons = new Map(await Promise.all(asked));
			this.jobs = jobs;
			this.status = status;
		} catch (error) {
			// It was killed while it was asked.
			if (session.pid !== undefined) throw error;
		}
	}

	reasonsOf = (job: JobDocument): ReasonDocument[] => this.reasons.get(job.id) ?? [];

	/** The last line that a run has written, and the process that wrote it. */
	said({ id, attempt }: { id: number; attempt: number }): { pid: number; text: string } | undefined {
		const [, pid, text] = /^\[(\d+)\] (.*)$/.exec(this.session.log(id, attempt).at(-1) ?? "") ?? [];
		return pid === undefined || text === undefined ? undefined : { pid: Number(pid), text };
	}

	/** What runs, each with its process. */
	async running(): Promise<Run[]> {
		const { jobs } = await this.session.call("job.list", { status: ["running"], batch: BATCH });
		return jobs.flatMap(({ id, attempt }) => {
			const said = this.said({ id, attempt });
			return said ? [{ name: this.named(id), job: id, attempt, pid: said.pid }] : [];
		});
	}

	reasonWords({ gate, code, subject, holder, detail }: Pick<Reason, "gate" | "code" | "subject" | "holder" | "detail">): string {
		const who = holder?.map((one) => (one.startsWith("job:") ? this.named(Number(one.slice(4))) : one)).join(", ");
		if (code === "locks") return `lock ${subject.replace("lock:", "")} is held by ${who}`;
		if (gate === "after" && subject.startsWith("job:")) return `waiting on ${this.named(Number(subject.slice(4)))}`;
		return detail.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (stamp) => clock(Date.parse(stamp)));
	}

	/** What happened, in a few words; undefined for what is not worth a line here. */
	eventWords({ kind, job, by, data }: EventDocument): Line | undefined {
		const name = this.named(job);
		switch (kind) {
			case "applied":
				return [`${Number(data.to) - Number(data.from) + 1} jobs added, all or none`];
			case "started":
				return [[name, "bold"], ` starts${Number(data.attempt) > 1 ? `, attempt ${data.attempt}` : ""}`];
			case "requeued":
				return [
					[`${name} failed`, "red"],
					`: ${data.message ?? data.exit_kind}; tried again ${data.retry_at ? `at ${clock(Date.parse(String(data.retry_at)))}` : "soon"}`,
				];
			case "ended":
				return [[`${name} ${data.to}`, data.to === "succeeded" ? "green" : data.to === "cancelled" ? "yellow" : "red"]];
			case "parked": {
				const { reason } = data;
				return reason.code === "locks" ? [[name, "bold"], " waits: ", [this.reasonWords(reason), "yellow"]] : undefined;
			}
			case "stop_asked":
				return [[`${name} is to stop`, "yellow"], `, says ${by}`];
			case "approved":
				return [[name, "bold"], ` is approved by ${by}`];
			case "batch_closed":
				return [`all ${data.total} jobs have ended`];
			default:
				return undefined;
		}
	}
}
