import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Where fetched servers and tools are kept: `$XDG_CACHE_HOME` or `~/.cache`, then `snowlane/`. It may be deleted at any
 * time.
 */
export function cacheFolder(): string {
  const base = process.env["XDG_CACHE_HOME"];
  return join(base === undefined || base === "" ? join(homedir(), ".cache") : base, "snowlane");
}

/**
 * Fills a folder of the cache, once for all processes of this user; returns its path.
 *
 * A folder that was left half filled is emptied and filled again.
 *
 * @param name - What is kept, with its version: another version is another folder.
 * @param fill - Fills the empty folder, at its final path.
 */
export async function fetchOnce(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const { key, folder, marker } = placeOf(name);
  if (existsSync(marker)) return folder;
  await withCacheLock(key, async () => {
    if (existsSync(marker)) return;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const startedMs = performance.now();
    progress(`Fetching ${name} into ${folder}, once.`);
    await fill(folder);
    writeFileSync(marker, `${new Date().toISOString()}\n`);
    progress(`Fetched ${name} in ${((performance.now() - startedMs) / 1_000).toFixed(1)} s.`);
  });
  return folder;
}

/** Whether {@link fetchOnce} has filled the folder of this name. */
export function isFetched(name: string): boolean {
  return existsSync(placeOf(name).marker);
}

function placeOf(name: string): { readonly key: string; readonly folder: string; readonly marker: string } {
  const key = name.replaceAll(/[^\w.+-]+/g, "_");
  const folder = join(cacheFolder(), key);
  return { key, folder, marker: join(folder, ".complete") };
}

/**
 * Runs `work` while no other process that asks for the lock of this name does.
 *
 * The lock is an exclusive transaction on an empty SQLite file: the kernel frees it when its process dies, however that
 * happens.
 */
export async function withCacheLock<T>(name: string, work: () => Promise<T>): Promise<T> {
  const folder = join(cacheFolder(), "locks");
  mkdirSync(folder, { recursive: true });
  const lock = new DatabaseSync(join(folder, name), { timeout: 0 });
  try {
    for (let waitedMs = 0; !tryLock(lock); waitedMs += 200) {
      if (waitedMs === 5_000) progress(`Waiting for another process that fetches ${name}.`);
      await sleep(200);
    }
    return await work();
  } finally {
    lock.close();
  }
}

function tryLock(lock: DatabaseSync): boolean {
  try {
    lock.exec("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === 5) return false;
    throw error;
  }
}

/** One line on standard error, past the test runner's own capture of the console. */
export function progress(line: string): void {
  process.stderr.write(`${line}\n`);
}
