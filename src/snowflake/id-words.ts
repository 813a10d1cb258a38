/** Whether this machine stores the lowest byte of a number first, as protobuf does. */
export const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
/** The indexes of the halves of a 64-bit number among the two 32-bit numbers of the same memory. */
const lowAt = isLittleEndian ? 0 : 1;
const highAt = 1 - lowAt;

/**
 * One ID as two unsigned 32-bit halves over the memory of one 64-bit number.
 *
 * A bigint is made only when {@link IdWords.id} is read, and without arithmetic on bigints: that costs a few
 * nanoseconds, whereas shifting and adding bigints costs a few dozen.
 */
export class IdWords {
  readonly #halves = new Uint32Array(2);
  readonly #whole = new BigUint64Array(this.#halves.buffer);

  /** The ID. */
  get id(): bigint {
    return this.#whole[0] as bigint;
  }

  set id(id: bigint) {
    this.#whole[0] = id;
  }

  get low(): number {
    return this.#halves[lowAt] as number;
  }

  /** Stored modulo 2^32. */
  set low(low: number) {
    this.#halves[lowAt] = low;
  }

  get high(): number {
    return this.#halves[highAt] as number;
  }

  /** Stored modulo 2^32. */
  set high(high: number) {
    this.#halves[highAt] = high;
  }
}

/**
 * The number that a field's value adds to the lower half of an ID.
 *
 * @param unit - The number that a value of 1 adds to an ID: 2 to the power of the field's shift. The product is exact,
 * because a factor of it is a power of two, and `>>>` takes it modulo 2^32.
 */
export function lowOf(unit: number, value: number): number {
  return (unit * value) >>> 0;
}

/** The number that a field's value adds to the upper half; `unit` as in {@link lowOf}. */
export function highOf(unit: number, value: number): number {
  return Math.floor((unit * value) / 2 ** 32);
}
