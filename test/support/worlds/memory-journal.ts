import {
  encodeResumeRecord,
  parseResumeRecord,
  type ResumeJournal,
  type ResumePlace,
  type ResumeRecord,
} from "../../../src/lease/resume/resume-record.ts";

/** The disk of one machine, as far as resume records go. */
export class JournalDisk {
  readonly texts = new Map<number, string>();
  readonly locks = new Map<number, MemoryJournal>();
  /** What the next operations meet. `uncertain`: it happens, and fails all the same. */
  fault: (operation: "write" | "remove") => "none" | "fails" | "uncertain" = () => "none";
  /** Set to make a write wait until it resolves. */
  stall: Promise<void> | undefined;
  place: ResumePlace = { namespace: "default", storeUrl: "memory:", machineId: "m", bootId: "b" };

  open(): MemoryJournal {
    return new MemoryJournal(this);
  }
}

/** A ResumeJournal on a {@link JournalDisk}. */
export class MemoryJournal implements ResumeJournal {
  readonly place: ResumePlace;
  readonly #disk: JournalDisk;
  #isDead = false;

  constructor(disk: JournalDisk) {
    this.#disk = disk;
    this.place = disk.place;
  }

  /** What the death of its process does. */
  kill(): void {
    this.#isDead = true;
    for (const [workerIndex, owner] of this.#disk.locks) if (owner === this) this.#disk.locks.delete(workerIndex);
  }

  async recall(isAnothers: (record: ResumeRecord) => boolean): Promise<readonly ResumeRecord[]> {
    const records: ResumeRecord[] = [];
    for (const [workerIndex, text] of this.#disk.texts) {
      const record = parseResumeRecord(text);
      if ((record !== undefined && isAnothers(record)) || !this.#lock(workerIndex)) continue;
      const isHere = record !== undefined && JSON.stringify(record.place) === JSON.stringify(this.place);
      if (isHere) records.push(record);
      else await this.remove(workerIndex);
    }
    return records;
  }

  async write(record: ResumeRecord): Promise<void> {
    if (!this.#lock(record.workerIndex)) throw new Error("locked");
    await this.#disk.stall;
    // A dead process writes nothing.
    if (this.#isDead) return await new Promise(() => {});
    const fault = this.#disk.fault("write");
    if (fault !== "fails") this.#disk.texts.set(record.workerIndex, encodeResumeRecord(record));
    if (fault !== "none") throw new Error("disk failure");
  }

  async remove(workerIndex: number): Promise<void> {
    if (!this.#lock(workerIndex)) return;
    if (this.#isDead) return await new Promise(() => {});
    const fault = this.#disk.fault("remove");
    if (fault !== "fails") this.#disk.texts.delete(workerIndex);
    if (fault !== "none") throw new Error("disk failure");
    this.leave(workerIndex);
  }

  leave(workerIndex: number): void {
    if (this.#disk.locks.get(workerIndex) === this) this.#disk.locks.delete(workerIndex);
  }

  #lock(workerIndex: number): boolean {
    if (!this.#disk.locks.has(workerIndex) && !this.#isDead) this.#disk.locks.set(workerIndex, this);
    return this.#disk.locks.get(workerIndex) === this;
  }
}
