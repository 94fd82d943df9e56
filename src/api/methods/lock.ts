// The method of locks.

import { doc, type Handlers } from "../call.ts";

export const lockMethods: Handlers<"lock"> = {
	"lock.list": async (_params, { context }) => doc({ locks: await context.scheduler.locks() }),
};
