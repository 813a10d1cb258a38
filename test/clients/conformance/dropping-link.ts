import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** A link to a server of this machine whose packets the kernel can drop. Needs Linux and Python. */
export class DroppingLink {
  readonly port: number;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcessWithoutNullStreams, lines: AsyncIterator<string>, port: number) {
    this.#child = child;
    this.#lines = lines;
    this.port = port;
  }

  static async start(targetPort: number): Promise<DroppingLink> {
    const program = fileURLToPath(new URL("dropping-relay.py", import.meta.url));
    const child = spawn("python3", [program, String(targetPort)]);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value, done } = await lines.next();
    if (done === true) throw new Error("python3, which drops packets, ended at its start.");
    return new DroppingLink(child, lines, Number(value));
  }

  /** Drops every packet of the open connections from now on; new ones work. @returns How many there are. */
  async drop(): Promise<number> {
    this.#child.stdin.write("\n");
    return Number((await this.#lines.next()).value);
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }
}
