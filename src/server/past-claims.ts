import { timeText } from "../lease/records/time-text.ts";
import { nameWorker } from "../lease/worker-settings.ts";
import type { PastClaims } from "../service/past-claims.ts";
import type { IdSource } from "../worker/id-source.ts";
import type { Worker } from "../worker/open-worker.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import type { Log } from "./log.ts";

/** The parts of a server that claims go through. */
interface ClaimingServer {
  readonly config: Pick<ServerConfig, "backfillKnownSince" | "backfillStoreKeptUntil">;
  readonly worker: Pick<Worker, "deploymentFingerprint" | "claimPast">;
  readonly source: Pick<IdSource, "layout">;
  readonly log: Log;
}

/** The parts of ClaimPast; undefined where the operator made no statement about the store. */
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
