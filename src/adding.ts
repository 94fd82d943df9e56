// Contract of adding jobs: what the hard limit of the queue answers, and what is said of jobs that are made of items.

/** The hard limit of the queue, how deep each lane is, and what can be done about it. */
export type Deferred = { limit: number; depths: Record<string, number>; hint: string };

/**
 * The jobs are made of items of a source. `limit`: whether the hard limit of the queue holds for them; `as_configured` = as `queue.limit_items` says.
 * `flows` are the lanes that the items ask for: they need no configuration where `flow_max` gives them a cap.
 */
export type OfItems = { flows: readonly string[]; limit: "always" | "as_configured" | "never" };
