// For code that reads or writes the tables directly: what stands elsewhere for the sake of speed goes back to where a move, a test or a person
// looks for it. The lock must be held.

import { settleCounters } from "./counters.ts";
import { settlePages } from "./pages.ts";

export const settle = (schema: string): string => `${settleCounters(schema)};\n${settlePages(schema)}`;
