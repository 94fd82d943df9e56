// The keys of the records that hold rollups.

import type { CellNames } from "../../core/rollups/cell.ts";

/** Kind `rollup`: all cells of one hour, or of one day. */
export const hourKey = (hour: number): string => `hour/${hour}`;
export const dayKey = (day: number): string => `day/${day}`;

/** Kind `rollup_open`: one cell of an hour that is not packed yet. */
export const openKey = (hour: number, names: CellNames): string => `${hour}/${JSON.stringify(names)}`;

export const hourIn = (key: string): number => Number(key.slice(0, key.indexOf("/")));
export const namesIn = (key: string): CellNames => JSON.parse(key.slice(key.indexOf("/") + 1));
