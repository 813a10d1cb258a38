import { ScriptedIdServer } from "../../support/processes/scripted-id-server.ts";

/** The bits below the milliseconds in an ID of a fault server. */
const belowTime = 22n;
let ends = 0n;
/** As a server of ours. */
const streamsMax = 100;

/** Takes `count` IDs that no fault server of this process gave before, and which carry the time of their making. */
export function takeIds(count: number): bigint {
  const now = BigInt(Date.now()) << belowTime;
  const first = now > ends ? now : ends;
  ends = first + BigInt(count);
  return first;
}

/** When an ID of a fault server was made, in Unix milliseconds. */
export function timeOf(id: bigint): number {
  return Number(id >> belowTime);
}

/**
 * Starts a server whose IDs carry the time of their making, of one deployment. A case lays its own handlers over those
 * of this one.
 *
 * @param deployment - Its number; 0 tells none.
 */
export async function startFaultServer(deployment: number): Promise<ScriptedIdServer> {
  const server = new ScriptedIdServer(1n, streamsMax);
  server.handlers = handlersOf(deployment);
  return server.start();
}

/** Handlers that give IDs of a deployment. */
export function handlersOf(deployment: number): ScriptedIdServer["handlers"] {
  return {
    nextId: () => ({ id: takeIds(1), deployment }),
    reserveIds: ({ count }) => ({ runs: [{ firstId: takeIds(count), count, stride: 1n }], deployment }),
    getInfo: () => ({ deploymentFingerprint: fingerprintOf(deployment) }),
  };
}

/**
 * Handlers of deployment 1 that give IDs after a wait.
 *
 * @param wait - Begins with each call, and is given how many IDs it asks for.
 */
export function lateHandlers(wait: (count: number) => Promise<void>): ScriptedIdServer["handlers"] {
  const plain = handlersOf(1);
  return {
    ...plain,
    nextId: async (request, context) => {
      await wait(1);
      return plain.nextId!(request, context);
    },
    reserveIds: async (request, context) => {
      await wait(request.count);
      return plain.reserveIds!(request, context);
    },
  };
}

/** What GetInfo calls a deployment. */
export function fingerprintOf(deployment: number): string {
  return deployment === 0 ? "" : deployment.toString(16).padStart(8, "0").padEnd(32, "0");
}
