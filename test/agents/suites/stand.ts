// What each scenario behind a daemon begins with: one program in one version, a fake API, a daemon with two accounts, a repository.

import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect } from "vitest";
import type { AgentName } from "../../../src/core/agents/profile.ts";
import { until } from "../../make/daemons/daemon.ts";
import { makeRepository, type Repository } from "../../make/repository.ts";
import { costOf, tokensOf } from "../charges.ts";
import { AgentDaemon } from "../daemon.ts";
import type { FakeApi } from "../fake-api/server.ts";
import { sum, type Turn } from "../fake-api/turn.ts";
import { cacheFolder } from "../install.ts";
import { Place } from "../place.ts";
import { newestOf } from "../programs.ts";
import type { Allowed } from "../sandbox.ts";

/** The repo of a stand, as jobs name it. */
export const REPO = "app";

export type Tried = { agent: AgentName; version: string };

/** Older versions are tried with fewer scenarios. */
export const isNewest = ({ agent, version }: Tried): boolean => version === newestOf(agent);

export type Stand = {
	place: Place;
	api: FakeApi;
	daemon: AgentDaemon;
	repo: Repository;
	/** The ledger says exactly what was handed out. */
	expectCharged(): Promise<void>;
	/** The same, of tokens alone. */
	expectTokensCharged(): Promise<void>;
};

/** `settings`: what the daemon's configuration has besides; made for the folder of the test. */
export type StandWish = { allowed?: Allowed; settings?: (folder: string) => Record<string, unknown> };

export async function openStand({ agent, version }: Tried, { allowed = "tools", settings = () => ({}) }: StandWish = {}): Promise<Stand> {
	const place = await Place.open(agent, version);
	const accounts = { a: place.account("key-a", "subscription", allowed), b: place.account("key-b", "subscription", allowed) };
	const repo = makeRepository();
	const daemon = await AgentDaemon.open(place, accounts, { repos: { [REPO]: { path: repo.path } }, ...settings(place.folder) });
	const { api } = place;
	const handed = () => sum([api.handed("key-a"), api.handed("key-b")]);
	const expectTokensCharged = async () => expect(await daemon.used("tokens")).toBe(tokensOf(handed()));
	const expectCharged = async () => {
		await expectTokensCharged();
		expect(await daemon.used("cost_micro")).toBe(costOf(agent, handed()) ?? 0);
	};
	return { place, api, daemon, repo, expectCharged, expectTokensCharged };
}

export const times = (count: number, turn: Turn): Turn[] => Array.from({ length: count }, () => turn);

/** Processes whose command line has this word. */
export const processesWith = (word: string): string[] =>
	readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => {
			try {
				return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
			} catch {
				return false;
			}
		});

/** Whether a process is the agent's own: its binary, or Node with its script. */
export function isProgram(pid: number, agent: AgentName): boolean {
	try {
		const words = [readlinkSync(`/proc/${pid}/exe`), ...readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, 2)];
		return words.some((word) => word.startsWith(`${cacheFolder()}/bin-`) || word.startsWith(`${cacheFolder()}/${agent}-`));
	} catch {
		return false;
	}
}

/** Until a tool of the job runs, with children of its own; their word. */
export async function beginToolCall({ api, daemon }: Stand): Promise<{ id: number; word: string }> {
	// A number that no other process sleeps for.
	const word = `9${process.pid}${Math.floor(Date.now() % 100_000)}`;
	api.script("key-a", [{ shell: `touch began; sleep ${word} & setsid sleep ${word} & sleep ${word}` }]);
	const id = await daemon.add("a", "take long");
	await until(() => existsSync(daemon.file("began")) && processesWith(`sleep\0${word}`).length >= 3);
	return { id, word };
}

type Body = { messages?: unknown[]; input?: unknown[] };
/** What a key's requests tell the model in turns, without the tools that they offer: as text to search in. */
export const talkOf = (api: FakeApi, key: string): string[] =>
	api.turnsOf(key).map(({ asked: { body } }) => JSON.stringify((body as Body).messages ?? (body as Body).input));

/** What the tools answered, of the last request of a key that talks with Codex's API. */
export const outputsOf = (api: FakeApi, key: string): string =>
	JSON.stringify(
		((api.turnsOf(key).at(-1)?.asked.body as Body | undefined)?.input ?? []).filter((one) =>
			/_output$/.test(String((one as { type?: unknown }).type)),
		),
	);

/** The bodies of a key's requests, as text to search in. */
export const bodiesOf = (api: FakeApi, key: string): string[] => api.turnsOf(key).map(({ asked: { body } }) => JSON.stringify(body));
