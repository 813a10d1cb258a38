/**
 * A process of its own with the built library, for a program that starts a hundred of them. Prints `ready`, waits for a
 * line, takes a worker ID, and prints an ID and what its worker reports, as JSON. Ends in order when its standard input
 * ends.
 *
 * Arguments: store URL, instance.
 */
import { once } from "node:events";
import { argv, stdin, stdout } from "node:process";
import type * as Library from "../../src/index.ts";

const [store = "", instance = ""] = argv.slice(2);
const library = new URL("../../dist/index.js", import.meta.url).href;
const { openSnowlane } = (await import(library)) as typeof Library;

stdout.write("ready\n");
await once(stdin, "data");
const ended = once(stdin, "end");
stdin.resume();
const ids = await openSnowlane({
  store,
  instance,
  // A hundred starts on a busy machine take longer than the 30 s of a program that is told nothing.
  startPatienceMs: 300_000,
  onEvent: (event) => stdout.write(`${JSON.stringify(event)}\n`),
});
stdout.write(`${JSON.stringify({ kind: "id", id: String(await ids.nextId()) })}\n`);
await ended;
await ids.close();
