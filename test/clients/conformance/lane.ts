import { ProgramUnderTest } from "./program-under-test.ts";
import { World } from "./world.ts";

/**
 * Plays cases one after the other, all with one process of the client's program, because a start costs more than most
 * cases. A process that a case broke, stopped or gave another clock ends with that case.
 */
export class Lane {
  readonly #call: readonly string[];
  #program: ProgramUnderTest | undefined;
  #isWarm = false;

  /** @param call - How the program is started. */
  constructor(call: readonly string[]) {
    this.#call = call;
  }

  /** The process that the next case has. */
  get program(): ProgramUnderTest {
    return (this.#program ??= new ProgramUnderTest(this.#call));
  }

  /** Gives a world to a piece of work, and ends it. */
  async inWorld<T>(work: (world: World) => Promise<T>): Promise<T> {
    const { program } = this;
    const world = new World(this.#call, program);
    let isKept = false;
    try {
      if (!this.#isWarm) await world.warmUp();
      this.#isWarm = true;
      const result = await work(world);
      await world.closeClients();
      isKept = !program.isSpent;
      return result;
    } finally {
      if (!isKept) await this.end();
      await world.end();
    }
  }

  /** Ends its process; a case after that has a new one. */
  async end(): Promise<void> {
    const ending = this.#program?.end();
    this.#program = undefined;
    this.#isWarm = false;
    await ending;
  }
}
