import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TcpProxy } from "../../support/processes/tcp-proxy.ts";
import type { ScriptedIdServer } from "../../support/processes/scripted-id-server.ts";
import { startFaultServer, timeOf } from "./fault-server.ts";
import { type Keys, type PrintedError, ProgramUnderTest } from "./program-under-test.ts";
import { readTakenIds, type TakenId } from "./taken-ids.ts";

/** Says how a client broke a rule. */
export class BrokenRule extends Error {}

/** Holds a client to a rule. @throws BrokenRule. */
export function hold(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new BrokenRule(otherwise);
}

/** What one call gave: an ID, or an error. */
export interface CallResult extends Partial<PrintedError> {
  readonly durationMs: number;
  readonly id?: string;
}

/** What `take` prints. */
export interface TakeResult {
  readonly count: number;
  readonly failures: number;
  readonly reasons: Readonly<Record<string, number>>;
  /** The longest that a call took. */
  readonly waitMaxMs: number;
  /** When the first ID came. */
  readonly firstMs: number;
}

/** An ID that a client handed out. */
export interface Taken extends TakenId {
  /** Since the fault server made it. */
  readonly ageMs: number;
}

/** What one case has: servers, links to them, and a program of the client, all of which end with it. */
export class World {
  readonly program: ProgramUnderTest;
  readonly folder = mkdtempSync(join(tmpdir(), "snowlane-conformance-"));
  readonly #ends: (() => Promise<unknown>)[] = [];
  #clientCount = 0;

  constructor(call: readonly string[]) {
    this.program = new ProgramUnderTest(call);
  }

  /** Lets the program call once by each way, so that no case measures how long a virtual machine takes to start. */
  async warmUp(): Promise<void> {
    const server = await this.server();
    for (const buffer of [0, 1]) {
      const client = await this.open([server.url], { buffer, timeout_ms: 60_000, attempt_timeout_ms: 30_000 });
      await client.call(3);
      await client.close();
    }
  }

  async server(deployment = 1): Promise<ScriptedIdServer> {
    const server = await startFaultServer(deployment);
    this.#ends.push(() => server.kill());
    return server;
  }

  /** A link to a server, which can be made slow, deaf or dead. */
  async link(server: ScriptedIdServer, host = "127.0.0.1"): Promise<TcpProxy> {
    const link = await TcpProxy.start(Number(new URL(server.url).port), host);
    this.#ends.push(() => link.stop());
    return link;
  }

  /** Opens a client. */
  async open(endpoints: readonly string[], keys: Keys = {}): Promise<Client> {
    const name = `c${this.#clientCount++}`;
    await this.program.send("open", { client: name, endpoints: endpoints.join(","), ...keys });
    return new Client(this, name);
  }

  async end(): Promise<void> {
    await this.program.end();
    for (const end of this.#ends.toReversed()) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A client of the program under test. */
export class Client {
  readonly #world: World;
  readonly #name: string;

  constructor(world: World, name: string) {
    this.#world = world;
    this.#name = name;
  }

  /** Makes calls, one after the other. */
  async call(count = 1): Promise<readonly CallResult[]> {
    const { results } = await this.#world.program.send<{ readonly results: readonly CallResult[] }>("call", {
      client: this.#name,
      count,
    });
    return results;
  }

  /** Takes IDs at an even rate. */
  async take(perSecond: number, seconds: number): Promise<TakeResult & { readonly taken: readonly Taken[] }> {
    const out = join(this.#world.folder, `${this.#name}.ids`);
    const keys = { client: this.#name, per_second: perSecond, seconds, out };
    const result = await this.#world.program.send<TakeResult>("take", keys);
    return { ...result, taken: readTakenIds(out).map(({ id, atMs }) => ({ id, atMs, ageMs: atMs - timeOf(id) })) };
  }

  async close(): Promise<void> {
    await this.#world.program.send("close", { client: this.#name });
  }

  async stats(): Promise<{ readonly handedOut: number; readonly reserved: number }> {
    return this.#world.program.send("stats", { client: this.#name });
  }
}

/** Holds IDs to the promise that none comes twice. */
export function holdDistinct(taken: readonly Taken[]): void {
  const distinct = new Set(taken.map(({ id }) => id));
  hold(distinct.size === taken.length, `${taken.length - distinct.size} of ${taken.length} IDs came twice`);
}

/** Holds a result to have no failed call. */
export function holdNoFailure({ failures, count, reasons }: TakeResult): void {
  const names = Object.entries(reasons).map(([reason, times]) => `${reason} ${times} times`);
  hold(failures === 0, `${failures} of ${failures + count} calls failed: ${names.join(", ")}`);
}
