// Which of the caller's variables go with a job when nothing else is set: what programs need to find their way, and no secrets.

export const ALLOWED: readonly string[] = [
	"PATH",
	"HOME",
	"USER",
	"LOGNAME",
	"SHELL",
	"LANG",
	"LC_*",
	"TERM",
	"TZ",
	"TMPDIR",
	"SSH_AUTH_SOCK",
	"XDG_*",
	"NODE_EXTRA_CA_CERTS",
];
