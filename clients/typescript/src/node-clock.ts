import { uptime } from "node:os";
import { type Clock, systemClock } from "./clock.ts";

/** The clock of this machine on Node, which knows how long the machine has been up. */
export const nodeClock: Clock = {
  ...systemClock,
  uptimeMs: () => uptime() * 1_000,
  schedule: (delayMs, work, keepsProcess) => {
    let isOff = false;
    const run = (): void => {
      if (!isOff) work();
    };
    // A caller waits: after a pause of the process, the bytes in the sockets are read before its time is up.
    const patient = (): void => void setImmediate(run);
    const callOff = systemClock.schedule(delayMs, keepsProcess === "keeps process" ? patient : run, keepsProcess);
    return () => {
      isOff = true;
      callOff();
    };
  },
};
