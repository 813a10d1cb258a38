import { lstatSync, unlinkSync } from "node:fs";
import { connect } from "node:net";

/**
 * Removes a Unix socket that no process listens on: that of a process which was killed. Leaves everything else, so that
 * binding fails with EADDRINUSE where a process listens, or where a file of another kind has the name.
 */
export async function removeStaleSocket(path: string): Promise<void> {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() !== true) return;
  if ((await errorOfConnecting(path)) === "ECONNREFUSED") unlinkSync(path);
}

/** @returns The code of the system's error; undefined where a process accepts. */
function errorOfConnecting(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
  });
}
