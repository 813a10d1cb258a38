/**
 * A process that attacks a server: it says that it is ready, is told what to do, attacks until the time is over, and
 * says how often.
 */
import { setPriority } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Attack, quickAttacks, slowAttacks, tlsAttacks } from "../support/http2/attacks.ts";
import { ordinaryCallers } from "./ordinary-callers.ts";

/** The settings of such a process. */
export interface AttackOrder {
  readonly name: string;
  readonly port: number;
  readonly seconds: number;
  /** Attackers at once. Each begins again when the server has ended it. */
  readonly attackers: number;
}

const lowestPriority = 19;
const attacks: readonly Attack[] = [...ordinaryCallers, ...quickAttacks, ...slowAttacks, ...tlsAttacks];

async function attack({ name, port, seconds, attackers }: AttackOrder): Promise<number> {
  const { run } = attacks.find((one) => one.name === name)!;
  const endsMs = Date.now() + 1_000 * seconds;
  let count = 0;
  const again = async (): Promise<void> => {
    while (Date.now() < endsMs) {
      await run(port);
      count++;
    }
  };
  await Promise.race([Promise.all(Array.from({ length: attackers }, again)), sleep(1_000 * seconds)]);
  return count;
}

// Attackers bring processors of their own; here they get what the server and the other caller leave.
setPriority(lowestPriority);
process.once("message", (order: AttackOrder) => void attack(order).then((count) => process.send!(count)));
process.send!("ready");
