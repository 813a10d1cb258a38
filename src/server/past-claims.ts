import { timeText } from "../lease/records/time-text.ts";
import { nameWorker } from "../lease/worker-settings.ts";
import type { PastClaims } from "../service/past-claims.ts";
import type { IdSource } from "../worker/id-source.ts";
import type { Worker } from "../worker/open-worker.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import type { Log } from "./log.ts";

/** The parts of a server that ClaimPast needs: the operator's statement about the store, and the worker that claims. */
interface ClaimingServer {
  /** `backfillKnownSince`: since when the store knows all grants; undefined = ClaimPast is not offered. */
  readonly config: Pick<ServerConfig, "backfillKnownSince" | "backfillStoreKeptUntil">;
  /** The worker claims worker IDs in addition to the one that it holds. */
  readonly worker: Pick<Worker, "deploymentFingerprint" | "claimPast">;
  /** Its layout says which times and worker IDs there are. */
  readonly source: Pick<IdSource, "layout">;
  /** Gets a line for each claim: which worker IDs, from when to when, and why. */
  readonly log: Log;
}

/** The statements and the claim behind ClaimPast; undefined where the operator made no statement about the store. */
export function pastClaimsOf({ config, worker, source, log }: ClaimingServer): PastClaims | undefined {
  const { backfillKnownSince: statement, backfillStoreKeptUntil } = config;
  if (statement === undefined) return undefined;
  const { layout } = source;
  return {
    layout,
    statedFingerprint: statement.fingerprint,
    fingerprintNow: () => worker.deploymentFingerprint,
    knownSinceMs: statement.sinceMs,
    storeKeptUntilMs: backfillStoreKeptUntil ?? Number.NEGATIVE_INFINITY,
    claim: (request) => worker.claimPast(request),
    onClaimed: ({ workerIndexes, fromMs, untilMs, passesLeft }, reason) => {
      const workerIds = workerIndexes.map((index) => nameWorker(layout, index)).join(", ");
      log.warn("A piece of the past was claimed", {
        workerIds,
        from: timeText(fromMs),
        to: timeText(untilMs),
        reason,
        passesLeft,
      });
    },
  };
}

/** Says once that a statement is about another store than this one: ClaimPast is off then. */
export function warnOfOtherStore({ config, worker, log }: Omit<ClaimingServer, "source">): void {
  const { backfillKnownSince: statement } = config;
  if (statement === undefined || statement.fingerprint === worker.deploymentFingerprint) return;
  log.warn("ClaimPast is off: --backfill-known-since is about another store", {
    stated: statement.fingerprint,
    fingerprint: worker.deploymentFingerprint,
  });
}
