// gemini, the real program, behind a real daemon.

import { throughDaemon } from "./through-daemon.ts";

throughDaemon("gemini");
