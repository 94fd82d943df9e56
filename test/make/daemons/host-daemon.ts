// The program of a host in tests: `node host-daemon.js HOME STORE NAME`.

import { startDaemon } from "../../../src/daemon/daemon.ts";

const [home = "", store = "", host = ""] = process.argv.slice(2);
const daemon = await startDaemon({ home, port: 0, store, name: host });
process.once("SIGTERM", () => void daemon.stop());
await daemon.stopped;
process.exit(0);
