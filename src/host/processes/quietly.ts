// Reading what may vanish between two lines: a file, a process. Nothing there is an answer, not an error.

/** Null when the file or process is not there, or not ours to read. Anything else is thrown. */
export function quietly<Value>(read: () => Value): Value | null {
	try {
		return read();
	} catch (error) {
		const code = (error as NodeJS.ErrnoException).code ?? "";
		if (["ENOENT", "ESRCH", "EACCES", "EPERM", "ENOTDIR"].includes(code)) return null;
		throw error;
	}
}
