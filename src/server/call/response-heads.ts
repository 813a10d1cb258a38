import type { Clock } from "../../clock/clock.ts";
import type { Fields } from "./envelope/envelope.ts";
import { isGrpcType, securityFields } from "./security-headers.ts";

/** Encodes a head or a trailer section for its connection: to a header block of HTTP/2, or to fields of HTTP/1.1. */
export type EncodeHead<Block> = (fields: Fields) => Block;

/** The head of a longer body is encoded again each time. */
const rememberedBytesMax = 1_023;

/** The fields that the heads of one content type have in common, and how they are encoded. */
export interface ResponseHeadsOptions<Block> {
  /** Encodes a head for the connection. */
  readonly encode: EncodeHead<Block>;
  /** The value of the field content-type. */
  readonly contentType: string;
  /** Fields that each head also has. */
  readonly marks: Fields;
  /** The wall clock of the field date. Absent: the heads have none. */
  readonly clock: Clock | undefined;
}

/**
 * The heads of the responses of one content type, encoded once, or once a second if they have a date (RFC 9110 section
 * 6.6.1). They carry what the heads of all other methods carry: see dispatch.ts.
 */
export class ResponseHeads<Block> {
  readonly #options: ResponseHeadsOptions<Block>;
  readonly #byLength = new Map<number, Block>();
  #plain: Block | undefined;
  /** The last head with more fields: calls that are refused for the same cause have the same object of fields. */
  #last: { readonly fields: Fields; readonly block: Block } | undefined;
  #date: Fields = [];
  #dateEndsMs = 0;

  constructor(options: ResponseHeadsOptions<Block>) {
    this.#options = options;
  }

  /** Heads of the same kind with these marks. */
  marked(marks: Fields): ResponseHeads<Block> {
    return new ResponseHeads({ ...this.#options, marks });
  }

  /** The head of a response without a content-length. */
  get plain(): Block {
    this.#updateDate();
    this.#plain ??= this.#ok([]);
    return this.#plain;
  }

  /** The head of a response with a body of `length` bytes. */
  ofLength(length: number): Block {
    this.#updateDate();
    let head = this.#byLength.get(length);
    if (head === undefined) {
      head = this.#ok([["content-length", String(length)]]);
      if (length <= rememberedBytesMax) this.#byLength.set(length, head);
    }
    return head;
  }

  #updateDate(): void {
    const nowMs = this.#options.clock?.nowMs();
    if (nowMs === undefined || (nowMs < this.#dateEndsMs && nowMs >= this.#dateEndsMs - 1_000)) return;
    this.#date = [["date", new Date(nowMs).toUTCString()]];
    this.#dateEndsMs = (Math.floor(nowMs / 1_000) + 1) * 1_000;
    this.#plain = undefined;
    this.#last = undefined;
    this.#byLength.clear();
  }

  /** The head of a response that also has these fields. */
  with(fields: Fields): Block {
    this.#updateDate();
    if (this.#last?.fields !== fields) this.#last = { fields, block: this.#ok(fields) };
    return this.#last.block;
  }

  #ok(fields: Fields): Block {
    return this.of(200, this.#options.contentType, fields);
  }

  /** A head with another status and content type. */
  of(status: number, contentType: string, fields: Fields): Block {
    this.#updateDate();
    const own: Fields = [
      [":status", String(status)],
      ["content-type", contentType],
      ["cache-control", "no-store"],
    ];
    const security = isGrpcType(contentType) ? [] : securityFields;
    return this.#options.encode([...own, ...security, ...this.#date, ...fields, ...this.#options.marks]);
  }
}
