/** Values by name, where the name is looked up by its bytes in a message, so that no text is made for a call. */

const capacityMin = 16;

/** An open hash table with linear probing, at most half full. Names are 1 to 63 characters of ASCII. */
export class NameTable<T extends object> {
  #count = 0;
  #mask = capacityMin - 1;
  /** The hash of the name in each slot; a search skips most slots by the hash alone. */
  #hashes = new Uint32Array(capacityMin);
  #names: (string | undefined)[] = emptySlots(capacityMin);
  #values: (T | undefined)[] = emptySlots(capacityMin);

  /** The value of the name in `bytes` from `start` to `end`, exclusive. */
  find(bytes: Uint8Array, start: number, end: number): T | undefined {
    let hash = hashSeed;
    for (let at = start; at < end; at++) hash = addToHash(hash, bytes[at]!);
    hash = finishHash(hash);
    for (let slot = hash & this.#mask; ; slot = (slot + 1) & this.#mask) {
      const name = this.#names[slot];
      if (name === undefined) return undefined;
      if (this.#hashes[slot] === hash && isEqual(name, bytes, start, end)) return this.#values[slot];
    }
  }

  /** Adds a name that is not in the table. */
  add(name: string, value: T): void {
    if ((this.#count + 1) * 2 > this.#names.length) this.#grow();
    this.#put(hashOf(name), name, value);
    this.#count++;
  }

  /** Removes a name, if it is in the table. */
  delete(name: string): void {
    let slot = hashOf(name) & this.#mask;
    while (this.#names[slot] !== name) {
      if (this.#names[slot] === undefined) return;
      slot = (slot + 1) & this.#mask;
    }
    this.#clear(slot);
    this.#count--;
    // The names that follow may have been displaced by this one, so they are inserted again.
    for (let next = (slot + 1) & this.#mask; this.#names[next] !== undefined; next = (next + 1) & this.#mask) {
      const [hash, moved, value] = [this.#hashes[next]!, this.#names[next]!, this.#values[next]!];
      this.#clear(next);
      this.#put(hash, moved, value);
    }
  }

  #grow(): void {
    const [hashes, names, values] = [this.#hashes, this.#names, this.#values];
    const capacity = names.length * 2;
    this.#mask = capacity - 1;
    this.#hashes = new Uint32Array(capacity);
    this.#names = emptySlots(capacity);
    this.#values = emptySlots(capacity);
    for (const [slot, name] of names.entries()) if (name !== undefined) this.#put(hashes[slot]!, name, values[slot]!);
  }

  #put(hash: number, name: string, value: T): void {
    let slot = hash & this.#mask;
    while (this.#names[slot] !== undefined) slot = (slot + 1) & this.#mask;
    this.#hashes[slot] = hash;
    this.#names[slot] = name;
    this.#values[slot] = value;
  }

  #clear(slot: number): void {
    this.#names[slot] = undefined;
    this.#values[slot] = undefined;
  }
}

function emptySlots<T>(count: number): (T | undefined)[] {
  return Array.from({ length: count });
}

function isEqual(name: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (name.length !== end - start) return false;
  for (let at = start; at < end; at++) if (name.charCodeAt(at - start) !== bytes[at]) return false;
  return true;
}

/** FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/), with its upper bits mixed into the lower ones. */
const hashSeed = 0x81_1c_9d_c5;

function addToHash(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01_00_01_93);
}

function finishHash(hash: number): number {
  return (hash ^ (hash >>> 15)) >>> 0;
}

function hashOf(name: string): number {
  let hash = hashSeed;
  for (let at = 0; at < name.length; at++) hash = addToHash(hash, name.charCodeAt(at));
  return finishHash(hash);
}
