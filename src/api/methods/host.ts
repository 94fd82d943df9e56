// The methods of hosts.

import { SluiceError } from "../../core/errors.ts";
import { given } from "../../core/given.ts";
import { suggest } from "../../core/input/nearest.ts";
import { doc, type Handlers, shownAll } from "../call.ts";
import { hostDocument } from "../documents/status.ts";

const PAGE = 10_000;

export const hostMethods: Handlers<"host"> = {
	"host.list": async (_params, { context }) => doc({ hosts: (await context.scheduler.hosts()).map(hostDocument) }),
	"host.show": async ({ name }, at) => {
		const hosts = await at.context.scheduler.hosts();
		const host = hosts.find((one) => one.name === name);
		const names = hosts.map((one) => one.name);
		if (!host)
			throw new SluiceError("not_found", `there is no host ${JSON.stringify(name)}`, {
				field: "name",
				hint: suggest(name, names, "sluice host list shows those that there are"),
			});
		const running = await at.context.scheduler.list({ status: ["running"], limit: PAGE });
		const here = running.filter(({ run }) => run?.host === name);
		return doc({ host: hostDocument(host), jobs: shownAll(at.context, here) });
	},
	"host.drain": async ({ name, stop, reason }, { context, by }) => {
		const { host, stopping } = await context.scheduler.drain(name, { by, ...given({ stop: stop || undefined, reason }) });
		return doc({ host: hostDocument(host), stopping });
	},
	"host.undrain": async ({ name }, { context, by }) => doc({ host: hostDocument(await context.scheduler.undrain(name, { by })) }),
	"host.remove": async ({ name }, { context, by }) => {
		await context.scheduler.removeHost(name, { by });
		return doc({ removed: name });
	},
};
