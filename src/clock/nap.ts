const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Blocks this thread for about `lengthMs` milliseconds; fractions count.
 *
 * Returns at once on a thread that must not be blocked, such as that of a browser's page, so it is for loops that look
 * at a clock again.
 */
export function nap(lengthMs: number): void {
  try {
    Atomics.wait(never, 0, 0, lengthMs);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}
