/** The cases that our own clients do not always hold yet, by language. */
export const notYetHeld: Readonly<Record<string, readonly string[]>> = {
  typescript: [],
  go: [],
  // One restart in three cost a fleet 1.5 handshakes each.
  java: ["fleet-restart"],
  python: [],
};
