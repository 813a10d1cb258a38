import { SnowlaneError } from "./errors.ts";
import { createTextCodec, type IdRange, idRange, type Layout, type Moment, type ParsedId, parseId } from "./offline.ts";
import type { TextFormat, TextReadOptions } from "./offline.ts";
import type { PrefetchBuffer, PrefetchOptions } from "./prefetch-buffer.ts";
import type { CallOptions, RunSource, StreamOptions } from "./run-source.ts";
import type { Sequence } from "./sequence.ts";
import { nanosecondsOf, wholeId } from "./whole-id.ts";

/** Where IDs come from: IdClient, or FakeIdClient in tests. Code that takes an IdSource needs no server in tests. */
export interface IdSource extends RunSource {
  /** Issues one ID. */
  nextId(options?: CallOptions): Promise<bigint>;
  /** Issues `count` IDs, 1 to 1,048,576. They ascend as long as one server answers. */
  nextIds(count: number, options?: CallOptions): Promise<bigint[]>;
  /** Issues `count` IDs, 1 to 10^9, in chunks: exactly that many, or an error. Leaving the loop cancels it. */
  stream(count: number, options?: StreamOptions): AsyncGenerator<readonly bigint[], void, undefined>;
  /** The deployment's layout. A server is asked for it once. */
  layout(options?: CallOptions): Promise<Layout>;
  /**
   * Reads an ID, or a text form of one, by {@link layout}. MALFORMED_TEXT for a UUID that holds no ID of the
   * deployment.
   */
  parse(idOrText: bigint | string, options?: TextReadOptions): Promise<ParsedId>;
  /** The IDs of [start, end), by {@link layout}. */
  idRange(start: Moment, end: Moment): Promise<IdRange>;
  /** Writes an ID as text, by {@link layout}. */
  format(id: bigint, format: TextFormat): Promise<string>;
  /** Makes a buffer that draws from here, and is closed with it. */
  prefetch(options?: PrefetchOptions): PrefetchBuffer;
  /** The sequence of that name, for small dense numbers. Nothing is sent before its first value. */
  sequence(name: string): Sequence;
  /** Ends it and its buffers: calls in flight and later ones get CLIENT_CLOSED. Doing it again does nothing. */
  close(): void;
}

/** What every IdSource does offline, once it knows the layout. */
export abstract class OfflineIds {
  readonly #namespace: string;

  constructor(namespace: string) {
    this.#namespace = namespace;
  }

  abstract layout(options?: CallOptions): Promise<Layout>;

  async parse(idOrText: bigint | string, options?: TextReadOptions): Promise<ParsedId> {
    if (typeof idOrText !== "string") {
      const id = wholeId(idOrText);
      return parseId(await this.layout(), id);
    }
    const layout = await this.layout();
    const { id } = createTextCodec(layout, this.#namespace).read(idOrText, options);
    if (id !== undefined) return parseId(layout, id);
    throw new SnowlaneError("MALFORMED_TEXT", "The UUID holds no ID of this deployment.", {
      code: "INVALID_ARGUMENT",
      metadata: { form: "uuid", reason: "foreign" },
    });
  }

  async idRange(start: Moment, end: Moment): Promise<IdRange> {
    const [first, afterLast] = [nanosecondsOf(start), nanosecondsOf(end)];
    return idRange(await this.layout(), first, afterLast);
  }

  async format(id: bigint, format: TextFormat): Promise<string> {
    const whole = wholeId(id);
    return createTextCodec(await this.layout(), this.#namespace).write(whole, format);
  }
}
