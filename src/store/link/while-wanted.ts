/**
 * Does the work of one connection, and destroys what was begun when `signal` aborts, even if it had aborted before, or
 * if a driver continues to connect after it was told to end.
 *
 * @param destroy - May be called more than once.
 */
export async function whileWanted<T>(signal: AbortSignal, destroy: () => void, work: () => Promise<T>): Promise<T> {
  signal.addEventListener("abort", destroy, { once: true });
  try {
    signal.throwIfAborted();
    const made = await work();
    signal.throwIfAborted();
    return made;
  } catch (error) {
    destroy();
    throw error;
  } finally {
    signal.removeEventListener("abort", destroy);
  }
}
