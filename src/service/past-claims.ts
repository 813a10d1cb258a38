import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { IdError } from "../errors.ts";
import type { ClaimPastRequest, ClaimPastResponseSchema } from "../gen/snowlane/v1/admin_service_pb.ts";
import type { PastGrant, PastRequest } from "../lease/claim-past.ts";
import { composeId, type Layout } from "../snowflake/layout.ts";
import { inWholeTicks, lanesMax } from "../snowflake/past-numbers.ts";
import { nsPerMsBig } from "../snowflake/nanoseconds.ts";
import { createDeploymentNumber } from "./deployment-number.ts";
import { layoutToMessage } from "./message/layout-message.ts";
import { RequestError } from "./message/request-error.ts";
import { timestampToNs, unixMsToTimestamp } from "./message/time-message.ts";

/** The statements of the operator about the store, and the claim that ClaimPast makes under them. */
export interface PastClaims {
  /** The layout of the IDs that are claimed. */
  readonly layout: Layout;
  /** The deployment that the statements are about, and the one whose store this is: 32 hex digits. */
  readonly statedFingerprint: string;
  readonly fingerprintNow: () => string;
  /** Unix milliseconds; see PastStatements. */
  readonly knownSinceMs: number;
  /** Unix milliseconds; negative infinity if nothing was stated; see PastStatements. */
  readonly storeKeptUntilMs: number;
  /** Claims in the store, without touching the worker ID that is held. */
  readonly claim: (request: PastRequest) => Promise<PastGrant>;
  /** Called with each claim that was granted, and the reason that its caller gave. */
  readonly onClaimed: (grant: PastGrant, reason: string) => void;
}

/** The delay that RetryInfo names while the store does not answer. */
const retryMs = 1_000;

/** Makes ClaimPast. @param claims - undefined: the server does not offer it. */
export function createClaimPast(claims: PastClaims | undefined) {
  return async (request: ClaimPastRequest): Promise<MessageInitShape<typeof ClaimPastResponseSchema>> => {
    if (claims === undefined) {
      throw new ConnectError("This server does not offer ClaimPast: see --backfill-known-since.", Code.Unimplemented);
    }
    // The statement is about one store: it does not apply to another one that has taken its place.
    if (claims.fingerprintNow() !== claims.statedFingerprint) {
      const message = "This server does not offer ClaimPast: --backfill-known-since is about another store.";
      throw new ConnectError(message, Code.Unimplemented);
    }
    const asked = readRequest(request, claims);
    const grant = await claims.claim(asked).catch(refuse);
    claims.onClaimed(grant, asked.reason);
    return toMessage(grant, claims);
  };
}

function readRequest(request: ClaimPastRequest, { layout, knownSinceMs, storeKeptUntilMs }: PastClaims): PastRequest {
  const fromNs = timeOf("from_time", request.fromTime);
  const toNs = timeOf("to_time", request.toTime);
  const laneCount = request.laneCount === 0 ? 1 : request.laneCount;
  if (laneCount > lanesMax) {
    const message = `lane_count is ${laneCount}; it must be from 1 to ${lanesMax}.`;
    throw new RequestError("COUNT_OUT_OF_RANGE", "lane_count", message, { count: laneCount, max: lanesMax });
  }
  if (!/^[ -~]{1,60}$/.test(request.reason)) {
    throw new RequestError("MALFORMED_TEXT", "reason", "Give a reason of 1 to 60 printable ASCII characters.");
  }
  const fromMs = Number(fromNs / nsPerMsBig) - (fromNs % nsPerMsBig < 0n ? 1 : 0);
  const toMs = Number(toNs / nsPerMsBig) + (toNs % nsPerMsBig > 0n ? 1 : 0);
  const interval = inWholeTicks(layout, fromMs, toMs);
  return { ...interval, laneCount, reason: request.reason, knownSinceMs, storeKeptUntilMs };
}

function timeOf(field: string, time: Timestamp | undefined): bigint {
  const ns = time && timestampToNs(time);
  if (ns !== undefined) return ns;
  throw new RequestError("INVALID_TIME_RANGE", field, `Give ${field}: a time between the years 1 and 9999.`);
}

function toMessage(grant: PastGrant, { layout, fingerprintNow }: PastClaims) {
  return {
    lanes: grant.lanes.map((lane) => ({ ...lane, idBits: composeId(layout, { ticks: 0, ...lane, sequence: 0 }) })),
    fromTime: unixMsToTimestamp(grant.fromMs),
    toTime: unixMsToTimestamp(grant.untilMs),
    firstTick: BigInt(grant.firstTick),
    endTick: BigInt(grant.endTick),
    layout: layoutToMessage(layout),
    deployment: createDeploymentNumber(fingerprintNow)(),
  };
}

/** An error of the store itself is not shown to callers: it may name addresses and users. */
function refuse(cause: unknown): never {
  if (!(cause instanceof IdError)) throw cause;
  if (cause.reason !== "STORE_UNAVAILABLE" && cause.reason !== "INVALID_CONFIG") throw cause;
  const message = "The past cannot be claimed now: the store does not answer as it should.";
  throw new IdError("STORE_UNAVAILABLE", message, { cause, retryAfterMs: retryMs });
}
