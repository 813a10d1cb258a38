/**
 * Counts up a record of the embedded store, for power-loss.test.ts: `power-writer-process.ts PATH KEY`. Each number
 * that the store has confirmed is a line on standard output.
 */
import { writeSync } from "node:fs";
import { openStore } from "../../src/store/open-store.ts";

const [, , path = "", key = ""] = process.argv;
const store = await openStore(`sqlite:${path}`, { namespace: "default", callTimeoutMs: 60_000 });
for (;;) {
  const { entry } = await store.read(key);
  const next = Number(entry?.text ?? "0") + 1;
  const answer = await store.compareAndSet(key, entry, String(next));
  if (answer.kind === "applied") writeSync(1, `${next}\n`);
}
