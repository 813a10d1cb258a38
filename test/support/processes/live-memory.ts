import { setTimeout as sleep } from "node:timers/promises";
import type { SnowlaneProcess } from "./snowlane-process.ts";

/** Flags of a Node whose `snowlane serve` can be asked for {@link liveState}. */
export const liveMemoryFlags: readonly string[] = [
  "--expose-gc",
  "--import",
  new URL("live-memory-probe.mjs", import.meta.url).href,
];

/** The memory that a server has in use. */
export interface LiveState {
  /** V8's heap and the buffers outside of it, after all garbage was collected, in MB of 1,000,000 bytes. */
  readonly liveMb: number;
  /** Timers that keep the process alive. */
  readonly timers: number;
}

/**
 * What a server has in use, after all garbage was collected. Not what it holds of the system, for V8 and the allocator
 * keep what they have once grown to.
 */
export async function liveState({ child, log }: SnowlaneProcess): Promise<LiveState> {
  const seen = log.length;
  child.kill("SIGUSR2");
  for (;;) {
    const line = log.slice(seen).find(({ message }) => message === "Live memory");
    if (line !== undefined) return { liveMb: Number(line["liveBytes"]) / 1e6, timers: Number(line["timers"]) };
    if (child.exitCode !== null) throw new Error("the server has ended");
    await sleep(10);
  }
}

/** The memory of {@link liveState}, in MB. */
export async function liveMb(server: SnowlaneProcess): Promise<number> {
  return (await liveState(server)).liveMb;
}
