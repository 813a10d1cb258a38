/**
 * Makes Ctrl-C and SIGTERM end this process with what its listeners of `exit` tidy up. npm passes a signal on that the
 * terminal has sent already, so it comes twice: the second must not end the process amid that.
 */
export function endOnSignal(): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));
}
