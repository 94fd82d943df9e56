// The documents of one job's life, as long as the engine's own: made before the clock starts, so that a floor measures SQL alone.

export type Texts = {
	id: number;
	spec: string;
	queued: string;
	running: string;
	ended: string;
	added: string;
	started: string;
	finished: string;
};

export const AT = 1_760_000_000_000;
export const LEASE_UNTIL = AT + 600_000;

export function texts(id: number, after: readonly number[] = []): Texts {
	const edges =
		after.length === 0 ? {} : { name: `n${id - 1}`, after: after.map((job) => ({ job, policy: "success" })), deps_left: after.length };
	const job = { kind: "payload", created_at: AT, ...edges };
	const run = { token: id, worker: "bench", lease_until: true };
	const later = { ...job, attempt: 1, started_at: AT };
	const last_run = { worker: "bench" };
	return {
		id,
		spec: JSON.stringify({ payload: { n: id }, version: 1, enqueued_at: AT }),
		queued: JSON.stringify({ ...job, ready_at: AT }),
		running: JSON.stringify({ ...later, ready_at: AT, run }),
		ended: JSON.stringify({ ...later, bucket: 1, exit_code: 0, exit_kind: "completed", last_run }),
		added: JSON.stringify({ from: null, to: "queued", lane: "default" }),
		started: JSON.stringify({ from: "queued", to: "running", attempt: 1, worker: "bench" }),
		finished: JSON.stringify({ from: "running", to: "succeeded", exit_kind: "completed", exit_code: 0, attempt: 1 }),
	};
}
