// What is stored as records: the type of the value of each kind. `Tx` and `Memory` take the types from here; no caller asserts the type of a row.

import type { RunOutput } from "../../contracts/output.ts";
import { ask, type Moved, type Op, type RecordKind } from "../../contracts/store.ts";
import type { WebhookRecord } from "../../contracts/webhook.ts";
import type { Bucket } from "../../core/bucket.ts";
import type { StartedBy } from "../../core/job.ts";
import type { Hold, HostRecord, Ledger } from "../../core/limits-view.ts";
import type { RollupCounts } from "../../core/rollups/cell.ts";
import type { RollupCaps, RollupPeriod } from "../../core/rollups/period.ts";
import type { People } from "../../core/trust/people.ts";
import type { KernelAgentRecord } from "../kernel/input.ts";
import type { Streak } from "../limits/breakers.ts";
import type { CallSlots } from "../limits/call-slots.ts";
import type { UniqueRecord } from "../operations/add.ts";
import type { AskRecord } from "../operations/outputs.ts";
import type { StoredSettings } from "../operations/settings.ts";
import type { TriggerRecord } from "../operations/triggers.ts";
import type { WaitRecord } from "../operations/waits.ts";
import type { ContinuationState } from "../waiting/continuation.ts";
import type { FactRecord, Reservation } from "../waiting/gate-facts.ts";
import type { LockRecord } from "../waiting/lock-reads.ts";
import type { BatchRecord, ChainRecord, Stage } from "../waiting/park.ts";

/** The last numbers given out. */
export type Ids = { job: number; token: number; seq: number; bucket: number; rank: number };

/** `cycle_left`: starts that the current cycle may still make; `cycle_by`: what opened it. */
export type Pace = {
	last_cycle_at: number;
	cycle_left?: number;
	cycle_by?: StartedBy;
	last_start_at: number;
	starts: number;
	last_dispatch_at: number | null;
};

/**
 * Where rollups are: the hour whose cells are open, the first hour that is kept as an hour, the first local date that is kept as a day, and the first hour
 * that is not part of such a day yet. `begun_at`: when the first count was made. `caps`: those of the open hour.
 */
export type RollupState = { hour: number; hours_from: number; days_from: number; days_to: number; begun_at: number; caps: RollupCaps };

/** Records of kind `meta`: one of each. */
export type MetaMap = {
	ids: Ids;
	pace: Pace;
	config: StoredSettings;
	/** Of the store; a copy of it has the same. */
	identity: { id: string };
	/** The store has had an output of a run. */
	outputs: true;
	/** The latest time that an expiry of kernel entries was asked for with. */
	late_clock: number;
	moved: Moved;
	people: People;
	/** The host that leads a fleet. */
	leader: { host: string };
	rollups: RollupState;
};

type RecordTypes = {
	meta: MetaMap[keyof MetaMap];
	bucket: Bucket;
	hold: Hold;
	host: HostRecord;
	usage: number;
	depth: number;
	ledger: Ledger;
	reserve: Reservation;
	settle: ContinuationState;
	stage: Stage;
	breaker: Streak;
	batch: BatchRecord;
	lock: LockRecord;
	chain: ChainRecord;
	unique: UniqueRecord;
	/** The job that the name refers to. */
	name: number;
	fact: FactRecord;
	/** The number of descendants of a root job. */
	family: number;
	calls: CallSlots;
	/** `last`: the last pid given out. */
	agent: KernelAgentRecord | number;
	trigger: TriggerRecord;
	webhook: WebhookRecord;
	wait: WaitRecord;
	output: RunOutput;
	ask: AskRecord;
	/** The answer to an `ask`, as the answering host gave it. */
	reply: unknown;
	rollup_open: RollupCounts;
	rollup: RollupPeriod;
};
/** Every kind of the store has a row here: a missing one does not compile. */
export type RecordMap = { [K in RecordKind]: RecordTypes[K] };

/** Reads records of one kind from the store: those with these keys, or all. */
export function* storedRecords<K extends RecordKind>(kind: K, keys?: readonly string[]): Op<[key: string, value: RecordMap[K]][]> {
	if (keys) return (yield* ask({ read: "records", kind, keys })) as [string, RecordMap[K]][];
	return (yield* ask({ read: "standing", kinds: [kind] })).map(([, key, value]) => [key, value as RecordMap[K]]);
}
