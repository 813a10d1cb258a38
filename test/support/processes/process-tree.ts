import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** A process and all that it has started, directly or not, as they are now. */
export function processTree(pid: number): readonly number[] {
  return [pid, ...descendants(pid)];
}

/**
 * Freezes a process and all that it has started (SIGSTOP). Returns when all their threads have stopped: on a busy
 * machine the others go on until the one that takes the signal gets a processor.
 */
export function pauseTree(pid: number): void {
  const tree = processTree(pid);
  for (const one of tree) signal(one, "SIGSTOP");
  const endMs = performance.now() + 30_000;
  while (tree.some(isRunning) && performance.now() < endMs) Atomics.wait(nothing, 0, 0, 1);
}

/** Kills a process and all that it has started (SIGKILL), and waits until they are gone. */
export async function killTree(pid: number): Promise<void> {
  // Stopped first: a child that it starts while its children are listed would outlive it, and keep its files.
  pauseTree(pid);
  const tree = processTree(pid);
  for (const one of tree) signal(one, "SIGKILL");
  while (tree.some(isAlive)) await sleep(5);
}

/** Sends a signal; a process that has ended is not an error. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

function descendants(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const found: number[] = [];
  for (let level = children.get(pid) ?? []; level.length > 0; level = level.flatMap((id) => children.get(id) ?? [])) {
    found.push(...level);
  }
  return found;
}

/** Never woken: for waiting without giving way. */
const nothing = new Int32Array(new SharedArrayBuffer(4));

/** Whether one of its threads has neither stopped nor ended. */
export function isRunning(pid: number): boolean {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    return threads.some(
      (thread) => !["T", "t", "Z", "X", undefined].includes(statusFields(`${pid}/task/${thread}`)[0]),
    );
  } catch {
    return false;
  }
}

/** Fields after the command's name, which is in brackets and may hold anything: state, then parent. */
function statusFields(process: number | string): string[] {
  try {
    const text = readFileSync(`/proc/${process}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function parentOf(pid: number): number | undefined {
  const parent = statusFields(pid)[1];
  return parent === undefined ? undefined : Number(parent);
}

/** Whether it has not ended. A zombie is not alive: it holds no file and no port any more. */
export function isAlive(pid: number): boolean {
  const state = statusFields(pid)[0];
  return state !== undefined && state !== "Z" && state !== "X";
}
