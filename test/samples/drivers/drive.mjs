/**
 * Uses the program that Learn shows, as a caller would; the same commands as the other drivers of this folder.
 *
 * - `make MS DATACENTER WORKER SEQUENCE` and `decode ID...`.
 * - `lives COUNT EACH`: generators one after another, each in place of a restart; the first and last ID of each.
 * - `histories`: for each line of standard input what comes of its steps: m makes an ID, t lets the clock go on by a
 *   millisecond, b sets it back by two, r restarts. The clock goes on by itself only while a call waits.
 * - `threads COUNT EACH`, in languages with threads: a line with the IDs of each.
 * - Nothing: prints nothing.
 */
import { readFileSync } from "node:fs";

// Put beside this file for a test.
const { decode, Generator, make } = await import(String(new URL("snowflake-id.mjs", import.meta.url)));
const [command, ...numbers] = process.argv.slice(2);

function printLives(count, each) {
  for (let life = 0; life < count; life++) {
    const ids = new Generator(0n, 1n);
    const first = ids.next();
    let last = first;
    for (let made = 1; made < each; made++) {
      const id = ids.next();
      if (id <= last) throw new Error(`${id} came after ${last}`);
      last = id;
    }
    console.log(`${first} ${last}`);
  }
}

function outcomeOf(history) {
  let nowMs = 1_700_000_000_000;
  let looks = 0;
  Date.now = () => {
    // It goes on while a call waits.
    if (looks++ > 0) nowMs++;
    return nowMs;
  };
  let ids = new Generator(0n, 1n);
  return [...history].map((step) => {
    looks = 0;
    if (step === "t") nowMs++;
    else if (step === "b") nowMs -= 2;
    else if (step === "r") ids = new Generator(0n, 1n);
    else {
      try {
        return String(ids.next());
      } catch (error) {
        if (!/clock is behind/.test(error.message)) throw error;
        return "behind";
      }
    }
    return "-";
  });
}

if (command === "make") console.log(String(make(...numbers.map(BigInt))));
else if (command === "decode") for (const id of numbers) console.log(Object.values(decode(BigInt(id))).join(" "));
else if (command === "lives") printLives(...numbers.map(Number));
else if (command === "histories") {
  const lines = readFileSync(0, "utf8").trimEnd().split("\n");
  console.log(lines.map((history) => outcomeOf(history).join(" ")).join("\n"));
}
