// A program that goes for one lock after another, each at a moment that its rivals know too, keeps what it gets, and says which it has.

import { join } from "node:path";
import { takeLock } from "../../src/daemon/service/lock.ts";

const [folder = "", rounds = "0"] = process.argv.slice(2);
const got: number[] = [];
const begin = Math.ceil(Date.now() / 1000 + 0.5) * 1000;
for (let round = 0; round < Number(rounds); round += 1) {
	while (Date.now() < begin + round * 250);
	try {
		takeLock(join(folder, `${round}.db`), join(folder, "nobody.json"));
		got.push(round);
	} catch {}
}
process.stdout.write(`${JSON.stringify(got)}\n`);
process.stdin.resume();
