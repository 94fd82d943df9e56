// What a person typed and has not sent: kept for this tab, through Escape and reloads.

import { keep, recall } from "../outside.ts";

const key = (name: string) => `sluice.draft.${name}`;
export const recallDraft = (name: string): string => recall(key(name), "tab") ?? "";
export const keepDraft = (name: string, words: string): void => keep(key(name), words === "" ? null : words, "tab");
