import { IdError } from "../errors.ts";
import { claimPast, type PastGrant, type PastRequest } from "../lease/claim-past.ts";
import type { LossNotices } from "../lease/loss-notices.ts";
import { isRegression } from "../lease/observed-store.ts";
import type { ProtocolContext } from "../lease/protocol-context.ts";
import type { WindowRules } from "../lease/window.ts";

/**
 * Claims the past in a process that may hold a worker ID, without touching its grant. Losses that the claim learns of
 * are handled as at an acquire, and a quarantine mark that is due is written before it.
 *
 * @throws IdError as the outcomes `refused` and `failed` of {@link claimPast}.
 */
export async function claimBeside(
  context: ProtocolContext,
  losses: LossNotices,
  rules: WindowRules,
  request: PastRequest,
): Promise<PastGrant> {
  try {
    await losses.writeQuarantine(rules);
  } catch (cause) {
    if (cause instanceof IdError && isRegression(cause)) losses.onRegression(cause.message);
    throw cause;
  }
  const { outcome, seen } = await claimPast(context, request, losses.known);
  losses.onAcquire(seen);
  if (outcome.kind === "claimed") return outcome.grant;
  // A refusal may have the same reason, but it only concerns losses that are known already.
  if (outcome.kind === "failed" && isRegression(outcome.error)) losses.onRegression(outcome.error.message);
  throw outcome.error;
}
