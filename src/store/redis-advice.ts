import { infoField } from "./link/redis-link.ts";
import type { StoreAdvice } from "./record-store.ts";

/** The settings of a Redis and of its users that matter to the records. */
export interface RedisSettings {
  /** INFO persistence. */
  readonly persistence: string;
  /** INFO memory. */
  readonly memory: string;
  /** Whether another server can become the primary, as far as the URL shows. */
  readonly canFailOver: boolean;
  /** The window that a server would take. */
  readonly windowMs: number;
}

/** A failover by Sentinel takes less than this with its usual settings, including a renewal and a second. */
const failoverMaxMs = 15_000;

/** Finds the settings that an operator should change. */
export function adviseOnRedis({ persistence, memory, canFailOver, windowMs }: RedisSettings): readonly StoreAdvice[] {
  const advice: StoreAdvice[] = [];
  if (infoField(persistence, "aof_enabled") === "0") {
    advice.push({
      detail: "appendonly is off: after a restart the records are as old as the last snapshot, or gone.",
      hint: "Set appendonly yes. Each loss costs a quarantine, in which no worker ID is granted.",
    });
  }
  const policy = infoField(memory, "maxmemory_policy");
  if (policy.startsWith("allkeys-") && infoField(memory, "maxmemory") !== "0") {
    advice.push({
      detail: `maxmemory-policy is ${policy}: Redis deletes the records when its memory is full.`,
      hint: "Set maxmemory-policy noeviction or one that begins with volatile-, which spare keys without an expiry.",
    });
  }
  if (canFailOver && windowMs < failoverMaxMs) {
    const window = `${windowMs / 1_000} s`;
    const cost = windowMs === 5_000 ? "refuses calls for 7 to 12 s" : "usually refuses calls for some seconds";
    advice.push({
      detail: `A window of ${window} is shorter than most failovers: a failover by Sentinel ${cost}.`,
      hint: "Give --window 20s from the first start on, if a worker ID may stay unusable for 23 s after a crash.",
    });
  }
  return advice;
}
