/** Whether an error was caused by a connection that answered nothing and is replaced by another. */
export function isOfDarkConnection(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause.name === "DarkConnection") return true;
  return false;
}
