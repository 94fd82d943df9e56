// What can be seen of a run, from its folder and the process table.
//
//   state       `start`   process   complete line in `exit`
//   unstarted   no        –         –
//   alive       yes       yes       no
//   exited      yes       –         yes
//   gone        yes       no        no

/** `started` is opaque: `pid` and `started` together identify one process for ever. */
export type Alive = { state: "alive"; pid: number; started: string };

/** `launch_failed`: why the program could not be started at all. `code` is what a shell would report: 128 + n for a signal, 126 or 127 for no program. */
export type Exited = {
	state: "exited";
	code: number;
	signal: string | null;
	launch_failed: string | null;
	/** What is missing or cannot be executed, if that is why the program could not be started. */
	missing?: "program" | "folder";
};

/** `reboot`: the machine was restarted since the run began. */
export type Gone = { state: "gone"; reboot: boolean };

export type Sighting = { state: "unstarted" } | Alive | Exited | Gone;
