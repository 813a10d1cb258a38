/** RELEASE: gives a worker ID back, with its mark lowered to the end of what was used. */
import { delay } from "../clock/clock.ts";
import { IdError } from "../errors.ts";
import type { Grant } from "./grant.ts";
import { isRegression } from "./observed-store.ts";
import type { ProtocolContext } from "./protocol-context.ts";
import { resolveOwnership } from "./renewal.ts";
import type { WindowRules } from "./window.ts";
import { encodeWorkerRecord } from "./records/worker-record.ts";

/** The outcome of a release. In no case is an ID issued under the grant again. */
export type ReleaseOutcome =
  | { readonly kind: "released" }
  /** No certain answer; if the release did not land, the worker ID becomes free by itself when its time is over. */
  | { readonly kind: "in-doubt"; readonly cause: unknown }
  /** The record was not ours any more. */
  | { readonly kind: "lost"; readonly detail: string }
  | { readonly kind: "regressed"; readonly detail: string };

/** How often a release is tried. It only saves others a wait, and a stop waits for it. */
const attemptsMax = 5;
/** The pause after a try that failed. */
const backoffMs = 100;

/**
 * Releases a grant: its mark is lowered to the end of what was used. Nothing else may lower a mark. Issuing under it
 * must have stopped permanently before this is called; its resume record must be gone as well.
 */
export async function release(context: ProtocolContext, grant: Grant, rules: WindowRules): Promise<ReleaseOutcome> {
  const sent = new Set<string>();
  let cause: unknown;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    try {
      const outcome = await tryRelease(context, grant, rules, sent);
      if (outcome !== undefined) return outcome;
      continue;
    } catch (problem) {
      if (!(problem instanceof IdError)) throw problem;
      if (isRegression(problem)) return { kind: "regressed", detail: problem.message };
      cause = problem;
    }
    await delay(context.ports.timers, backoffMs * (1 + context.ports.random()));
  }
  return { kind: "in-doubt", cause };
}

/**
 * @returns undefined if a renewal of ours had landed first: the next try starts from it.
 * @throws IdError if the store gives no certain answer.
 */
async function tryRelease(
  context: ProtocolContext,
  grant: Grant,
  rules: WindowRules,
  sent: Set<string>,
): Promise<ReleaseOutcome | undefined> {
  const { store, ports } = context;
  if (sent.size > 0) {
    // An earlier try got no answer: find out whether it landed before another one is sent.
    const { entry } = await store.read(grant.key);
    if (entry !== undefined && sent.has(entry.text)) return { kind: "released" };
  }
  if (!grant.isResolved) {
    const ownership = await resolveOwnership(context, grant, rules);
    if (ownership.kind === "lost" || ownership.kind === "regressed") return ownership;
  }
  const writeId = ports.random128();
  const text = encodeWorkerRecord({ ...grant.record, token: "", writeId, markMs: grant.usedToMs, expiresMs: 0 });
  sent.add(text);
  // The whole record as last confirmed is compared, never the token or the generation alone.
  const answer = await store.compareAndSet(grant.key, grant.entry, text);
  if (answer.kind === "refused") {
    sent.delete(text);
    throw answer.error;
  }
  if (answer.kind === "applied") return { kind: "released" };
  sent.delete(text);
  const { entry } = await store.read(grant.key);
  if (entry !== undefined && sent.has(entry.text)) return { kind: "released" };
  const ownership = await resolveOwnership(context, grant, rules);
  // A window that is over is released like any other: nothing is issued under it.
  return ownership.kind === "lost" || ownership.kind === "regressed" ? ownership : undefined;
}
