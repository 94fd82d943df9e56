// How the daemon is shared: which settings are refused, what a failed change leaves, and how links begin.

import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openDesk, openDoors } from "../../../test/make/daemons/served.ts";
import { ask } from "../../../test/make/daemons/shared.ts";
import { makeFolder } from "../../../test/make/folder.ts";
import { SILENT } from "../../contracts/log.ts";
import { localHost, systemClock } from "../../host/local.ts";
import { addressParts, type ListenSettings } from "../config/listen.ts";
import { SETTINGS } from "../config/settings.ts";
import { sharingChecks } from "./checks.ts";
import { checkListen, createSharing } from "./listen.ts";

type Change = Partial<Omit<ListenSettings, "proxy">> & { proxy?: Partial<ListenSettings["proxy"]> };
const settingsOf = ({ proxy, ...rest }: Change): ListenSettings => ({
	...SETTINGS.listen,
	...rest,
	proxy: { ...SETTINGS.listen.proxy, ...proxy },
});

function refusal(change: Change): [message: string, hint: string] | "taken" {
	try {
		checkListen(settingsOf(change));
		return "taken";
	} catch (error) {
		const { message, hint } = error as Error & { hint: string };
		return [message, hint];
	}
}

test("settings that contradict each other are refused with the cure", () => {
	expect(refusal({ address: "0.0.0.0:7443", tls: "off" })).toEqual([
		"listen.address: 0.0.0.0:7443 can be reached from other machines, and listen.tls is off: tokens would cross the network in clear",
		"sluice config set listen.tls on; or, behind a proxy on this machine, sluice serve --listen 127.0.0.1:7443 --no-tls",
	]);
	for (const address of ["10.0.0.7:1", "[::]:1", "[2001:db8::1]:1"]) expect(refusal({ address, tls: "off" })).not.toBe("taken");
	for (const address of ["127.0.0.1:1", "[::1]:1", "localhost:1"]) expect(refusal({ address, tls: "off" })).toBe("taken");
	expect(refusal({ certificate: "/x.crt" })[0]).toBe("listen.key: is missing");
	expect(refusal({ key: "/x.key" })[0]).toBe("listen.certificate: is missing");
	expect(refusal({ proxy: { from: ["10.0.0.2"] } })[0]).toBe("listen.proxy.name_header: is missing");
	expect(refusal({ proxy: { name_header: "remote-user" } })[0]).toBe("listen.proxy.from: is missing");
	expect(refusal({ proxy: { name_header: "remote-user", from: ["127.0.0.1"] } })[0]).toContain("every user of this machine can connect");
	expect(refusal({ proxy: { name_header: "remote-user", from: ["10.0.0.2"] } })).toBe("taken");
});

test("addresses: an IP address or localhost, with a port", () => {
	expect([addressParts("0.0.0.0:7443"), addressParts("[::]:1"), addressParts("localhost:0")]).toEqual([
		{ host: "0.0.0.0", port: 7443 },
		{ host: "::", port: 1 },
		{ host: "localhost", port: 0 },
	]);
	for (const text of ["", "7443", "0.0.0.0", "box.example:1", "1.2.3:1", "1.2.3.4:65536", "::1:1", "[1.2.3.4]:1", "1.2.3.4:1 "])
		expect([text, addressParts(text)]).toEqual([text, null]);
});

async function shared(change: Change) {
	const desk = await openDesk();
	const doors = await openDoors(desk);
	const sharing = createSharing({ home: makeFolder(), settings: settingsOf(change), clock: systemClock, host: localHost, log: SILENT });
	onTestFinished(() => sharing.close());
	await sharing.start(doors.serving);
	return sharing;
}
const isUp = async (url: string | null | undefined) =>
	ask(url ?? "", { path: "/health" }).then(
		() => true,
		(error) => error.code !== "ECONNREFUSED",
	);

test("a change that cannot be carried out leaves the server before; one that can closes it", async () => {
	const sharing = await shared({ address: "127.0.0.1:0", names: ["localhost"] });
	const first = sharing.endpoint();
	expect(first).toMatchObject({ url: expect.stringMatching(/^https:\/\/localhost:\d+\/$/), own_certificate: true, problem: null });
	const other = createServer();
	await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
	onTestFinished(() => void other.close());
	const { port } = other.address() as { port: number };
	await expect(sharing.follow(settingsOf({ address: `127.0.0.1:${port}` }))).rejects.toMatchObject({
		message: `listen.address: port ${port} of 127.0.0.1 is taken by another program`,
		hint: `take another port: sluice serve --listen 127.0.0.1:${port + 1}`,
	});
	const again = sharing.endpoint();
	expect([again?.fingerprint, await isUp(again?.url)]).toEqual([first?.fingerprint, true]);
	await sharing.follow(settingsOf({}));
	expect([sharing.endpoint(), await isUp(again?.url)]).toEqual([null, false]);
});

test("settings that cannot be used at a start do not keep the daemon from working, and are shown", async () => {
	const sharing = await shared({ address: "127.0.0.1:0", certificate: "/none.crt", key: "/none.key" });
	expect(sharing.endpoint()).toMatchObject({ url: null, problem: "listen.certificate: there is no file /none.crt" });
});

test("the proxy's secret is read from a file that is its owner's alone", async () => {
	const path = join(makeFolder(), "secret");
	writeFileSync(path, "0123456789abcdef\n", { mode: 0o600 });
	const proxy = { from: ["127.0.0.1"], name_header: "remote-user", secret_file: path };
	expect((await shared({ proxy })).proxy()).toEqual({
		from: ["127.0.0.1"],
		header: "remote-user",
		secret: "0123456789abcdef",
		unknown: null,
	});
	chmodSync(path, 0o644);
	const sharing = await shared({});
	await expect(sharing.follow(settingsOf({ proxy }))).rejects.toThrow("can be read by other users");
	writeFileSync(path, "short");
	chmodSync(path, 0o600);
	await expect(sharing.follow(settingsOf({ proxy }))).rejects.toThrow("fewer than 16 characters");
	await expect(sharing.follow(settingsOf({ proxy: { ...proxy, secret_file: "/none" } }))).rejects.toThrow("/none is not there");
});

test("the check-up says whether the daemon is shared, and warns before a given certificate ends", () => {
	const day = 86_400_000;
	const endpoint = {
		url: "https://mill:7443",
		address: "0.0.0.0:7443",
		fingerprint: "AB",
		pin: "p",
		own_certificate: false,
		problem: null,
	};
	const said = (more: Partial<Parameters<typeof sharingChecks>[0]>) => {
		const [found] = sharingChecks({ endpoint, until: 1000 * day, people: 3, now: 0, ...more });
		return found && [found.ok, found.detail];
	};
	expect(said({ endpoint: null })).toBe(undefined);
	expect(said({})).toEqual([true, "https://mill:7443: 3 people"]);
	expect(said({ people: 0 })).toEqual([true, "https://mill:7443: nobody can sign in yet"]);
	expect(said({ until: 20 * day })).toEqual([false, "https://mill:7443: its certificate ends in 20 days"]);
	expect(said({ until: 20 * day, endpoint: { ...endpoint, own_certificate: true } })).toEqual([true, "https://mill:7443: 3 people"]);
	expect(said({ until: -1 })).toEqual([false, "https://mill:7443: its certificate has ended"]);
	expect(said({ endpoint: { ...endpoint, url: null, problem: "the port is taken" } })).toEqual([
		false,
		"not shared on 0.0.0.0:7443: the port is taken",
	]);
});
