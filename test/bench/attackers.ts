/** A process of attackers, which waits for its order. */
import { fork } from "node:child_process";
import { once } from "node:events";
import type { AttackOrder } from "./attacker-process.ts";

const program = new URL("attacker-process.ts", import.meta.url);

/** What such a process can be told. */
export interface Attackers {
  /** Resolves when the attack is over: to how often an attacker was ended. */
  readonly attack: (order: AttackOrder) => Promise<number>;
  readonly stop: () => Promise<void>;
}

/** Starts such a process; resolves when it is ready. */
export async function startAttackers(): Promise<Attackers> {
  const attacker = fork(program);
  await once(attacker, "message");
  return {
    attack: async (order) => {
      attacker.send(order);
      const [count] = (await once(attacker, "message")) as [number];
      return count;
    },
    stop: async () => {
      attacker.kill();
      await once(attacker, "exit");
    },
  };
}
