import { CommandError, exitCodes } from "../../../src/cli/exit-code.ts";
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** What a program of a client may be told with a command. */
export type Keys = Readonly<Record<string, string | number>>;

/** An error, as a program prints it. */
export interface PrintedError {
  readonly reason: string;
  readonly code: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly retryAfterMs: number | null;
  readonly text: string;
}

/** Says that a program ended, or did not answer as docs/internals/client-contract.md says. */
export class WrongProgram extends CommandError {
  constructor(message: string) {
    super(message, exitCodes.refused);
  }
}

/** No answer to a command takes longer. */
const answerMsMax = 600_000;

/**
 * A running program of a client, which takes a command a line and prints a line of JSON for each:
 * docs/internals/client-contract.md has the commands.
 */
export class ProgramUnderTest {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #answers: AsyncIterator<string>;
  #errorText = "";
  /** Whether something befell it that the next case would feel, such as a pause. */
  isSpent = false;

  /** @param environment - Variables that it has beside those of this process. */
  constructor([command = "", ...args]: readonly string[], environment: Readonly<Record<string, string>> = {}) {
    const child = spawn(command, args, { env: { ...process.env, ...environment } });
    this.#child = child;
    child.on("error", (error) => (this.#errorText += error.message));
    child.stdin.on("error", () => undefined);
    child.stderr.on("data", (chunk: Buffer) => (this.#errorText += chunk.toString()));
    this.#answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  /**
   * Gives a command, and what the program prints for it. One at a time.
   *
   * @throws WrongProgram where the program ends instead, or prints something other than a line of JSON.
   */
  async send<T>(command: string, keys: Keys = {}): Promise<T> {
    const pairs = Object.entries(keys).map(([key, value]) => `${key}=${value}`);
    this.#child.stdin.write(`${[command, ...pairs].join(" ")}\n`);
    const limit = AbortSignal.timeout(answerMsMax);
    const late = once(limit, "abort").then((): never => {
      throw new WrongProgram(`The program has not answered ${command} within ${answerMsMax / 1_000} s.`);
    });
    const { value, done } = await Promise.race([this.#answers.next(), late]);
    if (done === true) throw new WrongProgram(`The program ended at the command ${command}: ${this.#errorText.trim()}`);
    try {
      return JSON.parse(value) as T;
    } catch {
      throw new WrongProgram(`The program printed no line of JSON for ${command}: ${value}`);
    }
  }

  /** Stops the process as a suspended machine does, for a while. */
  async pause(durationMs: number): Promise<void> {
    this.isSpent = true;
    this.#child.kill("SIGSTOP");
    await new Promise((resolve) => setTimeout(resolve, durationMs));
    this.#child.kill("SIGCONT");
  }

  /** Ends the program by the end of its input, or by a signal where that is not enough. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined) return;
    const ended = once(this.#child, "exit");
    this.#child.stdin.end();
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), 5_000);
    await ended;
    clearTimeout(killer);
  }
}
