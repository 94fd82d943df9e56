// Bugs that the simulator must catch, by the rule that each of them breaks. `npm run sim:planted -- --list` prints the table.

import type { Bug } from "./bug.ts";
import { ENDS } from "./ends.ts";
import { FAMILY } from "./family.ts";
import { HOSTS } from "./hosts.ts";
import { LOCKS } from "./locks.ts";
import { MESSAGES } from "./messages.ts";
import { PROVIDERS } from "./providers.ts";
import { ROLLUPS } from "./rollups.ts";
import { STARTS } from "./starts.ts";
import { WAITS } from "./waits.ts";

export const BUGS: readonly Bug[] = [...STARTS, ...LOCKS, ...WAITS, ...FAMILY, ...ENDS, ...ROLLUPS, ...PROVIDERS, ...HOSTS, ...MESSAGES];
