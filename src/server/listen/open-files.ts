import { readdirSync, readFileSync } from "node:fs";
import { urlsOf } from "../../config/sequence-settings.ts";
import type { ServerConfig } from "../../config/server-settings.ts";

/** Counts the file descriptors that this process has open; undefined where the system has no /proc. */
export function countOpenFiles(): number | undefined {
  try {
    // One of them belongs to the folder that is being read.
    return readdirSync("/proc/self/fd").length - 1;
  } catch {
    return undefined;
  }
}

/**
 * Reads how many file descriptors this process may have open: RLIMIT_NOFILE, which Node raises to its hard limit at the
 * start. Undefined where the system does not say, or sets no limit.
 */
export function readOpenFilesMax(): number | undefined {
  try {
    const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1")) ?? [];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    return undefined;
  }
}

/**
 * Descriptors for everything but connections: about 45 for Node, the store, its locks and sequences, and a few to
 * spare.
 */
const ownFiles = 64;
/** The most connections of the listener for operators: scrapers, probes and some people. */
const adminConnectionsMax = 100;
/** The shares of a small limit that connections get, and that those of operators get. */
const [leastShare, adminShare] = [1 / 4, 1 / 8];

type FilesConfig = Pick<ServerConfig, "adminListen" | "connectionsMax" | "sequenceConnections" | "sequenceStores">;

/**
 * Fits the most connections to the limit of open files, of which each connection takes one: the store, a renewal and a
 * scrape need some at a time when all connections are taken.
 *
 * @param openFilesMax - See {@link readOpenFilesMax}; undefined: nothing is fitted.
 */
export function fitConnections(
  { adminListen, connectionsMax, sequenceConnections, sequenceStores }: FilesConfig,
  openFilesMax: number = Number.POSITIVE_INFINITY,
): { readonly connectionsMax: number; readonly adminConnectionsMax: number } {
  const adminMax = Math.min(adminConnectionsMax, Math.ceil(openFilesMax * adminShare));
  const ofAdmin = adminListen === undefined ? 0 : adminMax;
  const named = sequenceStores === undefined || sequenceStores === "off" ? [] : urlsOf(sequenceStores);
  const ofSequences = named.length * sequenceConnections;
  const room = Math.max(openFilesMax - ownFiles - ofAdmin - ofSequences, Math.ceil(openFilesMax * leastShare));
  return { connectionsMax: Math.min(connectionsMax, room), adminConnectionsMax: adminMax };
}
