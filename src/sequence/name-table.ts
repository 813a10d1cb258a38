/** Values by name, where the name is looked up by its bytes in a message, so that no text is made for a call. */

/** The longest name, in bytes. */
const nameBytesMax = 63;
/** A name with its length before it. */
const slotBytes = nameBytesMax + 1;
const capacityMin = 16;

/** An open hash table with linear probing, at most half full. Names are 1 to 63 bytes of ASCII. */
export class NameTable<T extends object> {
  #count = 0;
  #mask = capacityMin - 1;
  #names = new Uint8Array(capacityMin * slotBytes);
  #values: (T | undefined)[] = Array.from({ length: capacityMin });

  /** The value of the name that stands in `bytes` from `start` to `end`, exclusive. */
  find(bytes: Uint8Array, start: number, end: number): T | undefined {
    const length = end - start;
    const names = this.#names;
    for (let slot = hashOf(bytes, start, end) & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const at = slot * slotBytes;
      const found = names[at];
      if (found === 0) return undefined;
      if (found !== length) continue;
      let index = 0;
      while (index < length && names[at + 1 + index] === bytes[start + index]) index++;
      if (index === length) return this.#values[slot];
    }
  }

  /** Adds a name that is not in the table. */
  add(name: string, value: T): void {
    if ((this.#count + 1) * 2 > this.#values.length) this.#grow();
    this.#put(Buffer.from(name, "latin1"), value);
    this.#count++;
  }

  /** Removes a name, if it is in the table. */
  delete(name: string): void {
    const bytes = Buffer.from(name, "latin1");
    let slot = hashOf(bytes, 0, bytes.length) & this.#mask;
    while (!this.#has(slot, bytes)) {
      if (this.#names[slot * slotBytes] === 0) return;
      slot = (slot + 1) & this.#mask;
    }
    this.#clear(slot);
    this.#count--;
    // Those that follow may have been displaced by this one: they are put into their places again.
    for (let next = (slot + 1) & this.#mask; this.#names[next * slotBytes] !== 0; next = (next + 1) & this.#mask) {
      const moved = this.#nameAt(next);
      const value = this.#values[next]!;
      this.#clear(next);
      this.#put(moved, value);
    }
  }

  #grow(): void {
    const entries = this.#values.flatMap((value, slot) =>
      value === undefined ? [] : [{ name: this.#nameAt(slot), value }],
    );
    const capacity = this.#values.length * 2;
    this.#mask = capacity - 1;
    this.#names = new Uint8Array(capacity * slotBytes);
    this.#values = Array.from({ length: capacity });
    for (const { name, value } of entries) this.#put(name, value);
  }

  #put(name: Uint8Array, value: T): void {
    let slot = hashOf(name, 0, name.length) & this.#mask;
    while (this.#names[slot * slotBytes] !== 0) slot = (slot + 1) & this.#mask;
    this.#names[slot * slotBytes] = name.length;
    this.#names.set(name, slot * slotBytes + 1);
    this.#values[slot] = value;
  }

  #has(slot: number, name: Uint8Array): boolean {
    const own = this.#nameAt(slot);
    return own.length === name.length && own.every((byte, index) => byte === name[index]);
  }

  /** A copy of the name in a slot; empty if there is none. */
  #nameAt(slot: number): Uint8Array {
    const at = slot * slotBytes;
    return this.#names.slice(at + 1, at + 1 + this.#names[at]!);
  }

  #clear(slot: number): void {
    this.#names[slot * slotBytes] = 0;
    this.#values[slot] = undefined;
  }
}

/** FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), with its upper bits mixed into the lower ones. */
function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01_00_01_93);
  return (hash ^ (hash >>> 15)) >>> 0;
}
