// What `import … from "sluice"` gives.

export type { Clock, Facts, FactValue, Host } from "./contracts/host.ts";
export type * from "./contracts/scheduler.ts";
export { type Config, DEFAULTS, PRESETS, type PresetName } from "./core/config.ts";
export { type ErrorCode, SluiceError } from "./core/errors.ts";
export type { After, ExitKind, Job, JobInput, JobSpec, Lock, Policy, RetryPolicy, Run, Status } from "./core/job.ts";
export { EXIT_KINDS, STATUSES } from "./core/job.ts";
export { planDispatch } from "./core/planning/bound.ts";
export { GATES, REASON_CODES, type Reason, type ReasonCode } from "./core/reason.ts";
export { JsonText } from "./core/text/json-text.ts";
export type { RunBounds } from "./core/trust/run-bounds.ts";
export { openScheduler } from "./open.ts";
export { KERNEL_CODES, KernelError } from "./scheduler/kernel/input.ts";
