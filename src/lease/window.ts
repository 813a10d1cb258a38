/**
 * Arithmetic of time windows: which marks may be asked for and how far a confirmed one may be used. All times are Unix
 * milliseconds.
 */

/**
 * On a store that can lose data, every clock of a deployment is assumed to differ from true time by at most this.
 * Uniqueness on a durable store does not depend on it.
 */
export const clockErrorMs = 500;

/** A process whose clock is further than this from the store's does not start. */
export const clockOffMaxMs = 300_000;

/** The lengths of time that the protocol works with. */
export interface WindowRules {
  /** W: how far ahead time is reserved. */
  readonly windowMs: number;
  /** A: the most that a timestamp may lead the wall clock. */
  readonly leadMaxMs: number;
  /** The longest window that a process of the namespace may reserve. */
  readonly windowMaxMs: number;
  /** How far the wall clock may be behind the store's before windows are refused. */
  readonly behindMaxMs: number;
}

/** A window to ask for: [fromMs, untilMs). */
export interface Window {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Q: how long after a loss of data a lost grant may still be in use: the longest window, the lead, and the error of two
 * clocks.
 */
export function quarantineMs(rules: Pick<WindowRules, "windowMaxMs" | "leadMaxMs">): number {
  return rules.windowMaxMs + rules.leadMaxMs + 2 * clockErrorMs;
}

/**
 * The highest mark that the store's clock allows: no process's window ends later, however wrong its own clock is. So a
 * wrong clock cannot make a worker ID unusable, and windows that were lost with a store's data are over Q after the
 * loss by the store's own time. docs/adr/0010 explains why this check is made above the stores.
 *
 * @param storeMs - The store's clock; undefined where it has no clock: then the wall clock is the only bound.
 */
export function markMax(rules: WindowRules, storeMs: number | undefined): number {
  return storeMs === undefined
    ? Number.POSITIVE_INFINITY
    : storeMs + rules.windowMs + rules.leadMaxMs + 2 * clockErrorMs;
}

/** Whether the wall clock is so far behind the store's that no window may be asked for. */
export function isBehind(rules: WindowRules, wallMs: number, storeMs: number | undefined): boolean {
  return storeMs !== undefined && wallMs < storeMs - rules.behindMaxMs;
}

/**
 * The window of a new grant: from the highest of mark, wall clock and floor.
 *
 * @param floorMs - The floor that a quarantine sets; see quarantine.ts.
 * @returns undefined if the window would begin further ahead of the wall clock than a timestamp may, or if the store's
 * clock allows less than half of it.
 */
export function grantWindow(
  rules: WindowRules,
  at: {
    readonly wallMs: number;
    readonly storeMs: number | undefined;
    readonly markMs: number;
    readonly floorMs: number;
  },
): Window | undefined {
  const fromMs = Math.max(at.markMs, at.wallMs, at.floorMs);
  const untilMs = Math.min(fromMs + rules.windowMs, markMax(rules, at.storeMs));
  if (fromMs > at.wallMs + rules.leadMaxMs || untilMs - fromMs < rules.windowMs / 2) return undefined;
  return { fromMs, untilMs };
}

/**
 * The mark that a renewal asks for: one window above the clock and what was used, never lower than the present mark.
 *
 * @param lastMs - The highest timestamp issued so far.
 */
export function renewalMark(
  rules: WindowRules,
  at: {
    readonly wallMs: number;
    readonly storeMs: number | undefined;
    readonly lastMs: number;
    readonly markMs: number;
  },
): number {
  const wantedMs = Math.max(at.wallMs, at.lastMs) + rules.windowMs;
  const allowedMs = Math.min(at.wallMs + rules.leadMaxMs + rules.windowMs, markMax(rules, at.storeMs));
  return Math.max(at.markMs, Math.min(wantedMs, allowedMs));
}
