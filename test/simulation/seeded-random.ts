/**
 * Random numbers that a seed repeats exactly: sfc32 by Chris Doty-Humphrey (PractRand), seeded through splitmix32.
 */
export class SeededRandom {
  #a: number;
  #b: number;
  #c: number;
  #d = 1;

  constructor(seed: number) {
    let state = seed | 0;
    const mix = (): number => {
      state = (state + 0x9e3779b9) | 0;
      let value = state ^ (state >>> 16);
      value = Math.imul(value, 0x21f0aaad);
      value ^= value >>> 15;
      value = Math.imul(value, 0x735a2d97);
      return value ^ (value >>> 15);
    };
    this.#a = mix();
    this.#b = mix();
    this.#c = mix();
    for (let round = 0; round < 12; round++) this.uint32();
  }

  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    this.#c |= 0;
    return sum >>> 0;
  }

  /** From 0 inclusive to 1 exclusive. */
  fraction(): number {
    return this.uint32() / 2 ** 32;
  }

  /** A whole number from `min` to `max`, both inclusive. */
  between(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new RangeError("Nothing to pick from.");
    return items[Math.floor(this.fraction() * items.length)] as T;
  }

  /** 128 bits as 32 hexadecimal digits. */
  hex128(): string {
    let digits = "";
    for (let word = 0; word < 4; word++) digits += this.uint32().toString(16).padStart(8, "0");
    return digits;
  }

  /** A generator of its own, so that what one part draws does not shift what another does. */
  fork(): SeededRandom {
    return new SeededRandom(this.uint32());
  }
}
