/**
 * A process that asks a store once, closes it, and has nothing more to do: it must end by itself. Prints how the call
 * ended.
 */
import { IdError } from "../../src/errors.ts";
import { openStore } from "../../src/store/open-store.ts";

const store = await openStore(process.argv[2] ?? "", { namespace: "default", callTimeoutMs: 300 });
try {
  await store.read("layout");
  process.stdout.write("answered\n");
} catch (error) {
  process.stdout.write(`${error instanceof IdError ? error.reason : String(error)}\n`);
}
await store.close();
