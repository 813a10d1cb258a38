import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TcpProxy } from "../../support/processes/tcp-proxy.ts";
import type { ScriptedIdServer } from "../../support/processes/scripted-id-server.ts";
import { startFaultServer, timeOf } from "./fault-server.ts";
import { type Keys, type PrintedError, ProgramUnderTest, WrongProgram } from "./program-under-test.ts";
import { readTakenIds, type TakenId } from "./taken-ids.ts";

/** Says how a client broke a rule. */
export class BrokenRule extends Error {}

/**
 * Says that a client was later than its rule allows, or that its calls ran out of time. A busy machine does the same to
 * a client that keeps the rule, so the case is judged again.
 */
export class TooLate extends BrokenRule {}

/** Holds a client to a rule. @throws BrokenRule. */
export function hold(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new BrokenRule(otherwise);
}

/** Holds a client to a rule that depends on time. @throws TooLate. */
export function holdInTime(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new TooLate(otherwise);
}

/** The reasons of calls that ran out of time. */
const lateReasons: ReadonlySet<string> = new Set(["DEADLINE_EXCEEDED", "UNREACHABLE"]);

/** Holds a call to have an ID. @throws TooLate where it ran out of time, BrokenRule where it failed otherwise. */
export function holdAnswered(
  result: CallResult | undefined,
  failed = "the call failed",
): asserts result is CallResult & { readonly id: string } {
  if (result?.id !== undefined) return;
  const isLate = lateReasons.has(result?.reason ?? "");
  throw new (isLate ? TooLate : BrokenRule)(`${failed}: ${result?.text ?? "it has no result"}`);
}

/** Of a client whose case is not about time. */
export const patience: Keys = { timeout_ms: 60_000, attempt_timeout_ms: 30_000 };

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

/** Says why a case cannot see whether a client holds its rule. */
export class NotObserved extends Error {}

let clientCount = 0;

/** What one case has: servers, links to them, and programs of the client. All but the first program end with it. */
export class World {
  /** The program that most cases need alone. */
  readonly program: ProgramUnderTest;
  readonly folder = mkdtempSync(join(tmpdir(), "snowlane-conformance-"));
  readonly #call: readonly string[];
  readonly #ends: (() => Promise<unknown>)[] = [];
  /** Of the first program. */
  readonly #clients: Client[] = [];

  /**
   * @param call - How a program is started.
   * @param program - The first one, which stays for the next case.
   */
  constructor(call: readonly string[], program: ProgramUnderTest) {
    this.#call = call;
    this.program = program;
  }

  /**
   * Lets a program call once by each way, so that no case measures how long a virtual machine takes to start.
   *
   * @param program - Default: the first one.
   */
  async warmUp(program = this.program): Promise<void> {
    const server = await this.server();
    for (const buffer of [0, 1]) {
      const client = await this.open([server.url], { buffer, ...patience }, program);
      await client.call(3);
      await client.close();
    }
  }

  /** Starts one more program of the client. */
  startProgram(): ProgramUnderTest {
    return this.#keep(new ProgramUnderTest(this.#call));
  }

  /**
   * Starts one more program of the client, for which a host name has these addresses.
   *
   * @throws NotObserved where this machine permits no program a file of hosts of its own.
   */
  async startProgramWithHost(host: string, addresses: readonly string[]): Promise<ProgramUnderTest> {
    const hosts = join(this.folder, "hosts");
    writeFileSync(hosts, ["127.0.0.1 localhost", ...addresses.map((address) => `${address} ${host}`), ""].join("\n"));
    const confined = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"];
    const mount = ['mount --bind "$0" /etc/hosts && exec "$@"', hosts];
    // A proxy would be asked for the name.
    const environment = { no_proxy: host, NO_PROXY: host, no_grpc_proxy: host };
    const program = this.#keep(new ProgramUnderTest([...confined, ...mount, ...this.#call], environment));
    try {
      await program.send("hello");
    } catch (error) {
      if (!(error instanceof WrongProgram)) throw error;
      throw new NotObserved(`this machine gives no program host names of its own: ${error.message}`);
    }
    return program;
  }

  #keep(program: ProgramUnderTest): ProgramUnderTest {
    this.onEnd(() => program.end());
    return program;
  }

  async server(deployment = 1): Promise<ScriptedIdServer> {
    const server = await startFaultServer(deployment);
    this.onEnd(() => server.kill());
    return server;
  }

  /** A link to a server, which can be made slow, deaf or dead. */
  link(server: ScriptedIdServer, host = "127.0.0.1", ownPort = 0): Promise<TcpProxy> {
    return this.linkTo(Number(new URL(server.url).port), host, ownPort);
  }

  /** A link to a port. @param ownPort - Where it listens; 0: where it likes. */
  async linkTo(port: number, host = "127.0.0.1", ownPort = 0): Promise<TcpProxy> {
    const link = await TcpProxy.start(port, host, ownPort);
    this.onEnd(() => link.stop());
    return link;
  }

  /** Opens a client. */
  async open(endpoints: readonly string[], keys: Keys = {}, program = this.program): Promise<Client> {
    const name = `c${clientCount++}`;
    await program.send("open", { client: name, endpoints: endpoints.join(","), ...keys });
    const client = new Client({ program, name, folder: this.folder });
    if (program === this.program) this.#clients.push(client);
    return client;
  }

  /** Has something ended with the case: the last first, after the clients of the first program. */
  onEnd(end: () => Promise<unknown>): void {
    this.#ends.push(end);
  }

  /** Closes what its case left open in the first program. */
  async closeClients(): Promise<void> {
    for (const client of this.#clients) if (client.isOpen) await client.close();
  }

  async end(): Promise<void> {
    for (const end of this.#ends.toReversed()) await end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A client of a program under test. */
export class Client {
  readonly #program: ProgramUnderTest;
  readonly #name: string;
  readonly #folder: string;
  isOpen = true;

  constructor({ program, name, folder }: { program: ProgramUnderTest; name: string; folder: string }) {
    this.#program = program;
    this.#name = name;
    this.#folder = folder;
  }

  /** Makes calls, one after the other. */
  async call(count = 1): Promise<readonly CallResult[]> {
    const { results } = await this.#program.send<{ readonly results: readonly CallResult[] }>("call", {
      client: this.#name,
      count,
    });
    return results;
  }

  /** Opens streams, of each of which the first chunk is read and no more. */
  openStreams(count: number): Promise<Pick<TakeResult, "count" | "failures" | "reasons">> {
    return this.#program.send("streams", { client: this.#name, count });
  }

  /** Takes IDs at an even rate. */
  async take(perSecond: number, seconds: number): Promise<TakeResult & { readonly taken: readonly Taken[] }> {
    const out = join(this.#folder, `${this.#name}.ids`);
    const keys = { client: this.#name, per_second: perSecond, seconds, out };
    const result = await this.#program.send<TakeResult>("take", keys);
    return { ...result, taken: readTakenIds(out).map(({ id, atMs }) => ({ id, atMs, ageMs: atMs - timeOf(id) })) };
  }

  async close(): Promise<void> {
    this.isOpen = false;
    await this.#program.send("close", { client: this.#name });
  }

  async stats(): Promise<{ readonly handedOut: number; readonly reserved: number }> {
    return this.#program.send("stats", { client: this.#name });
  }

  /** Steps the wall clock that the clients of its program read. */
  async stepClock(ms: number): Promise<void> {
    this.#program.isSpent = true;
    await this.#program.send("step", { ms });
  }
}

/** Holds IDs to the promise that none comes twice. */
export function holdDistinct(taken: readonly Taken[]): void {
  const distinct = new Set(taken.map(({ id }) => id));
  hold(distinct.size === taken.length, `${taken.length - distinct.size} of ${taken.length} IDs came twice`);
}

/** Holds a result to have no failed call. @throws TooLate where all that failed ran out of time, else BrokenRule. */
export function holdNoFailure({ failures, count, reasons }: Pick<TakeResult, "failures" | "count" | "reasons">): void {
  if (failures === 0) return;
  const names = Object.entries(reasons).map(([reason, times]) => `${reason} ${times} times`);
  const areLate = Object.keys(reasons).every((reason) => lateReasons.has(reason));
  throw new (areLate ? TooLate : BrokenRule)(`${failures} of ${failures + count} calls failed: ${names.join(", ")}`);
}
