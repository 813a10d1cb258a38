import { isLittleEndian } from "../../snowflake/id-words.ts";
import { writeRun } from "../../snowflake/run.ts";
import { numberBehind, type FieldsBehind } from "./fields-behind.ts";
import type { AnswerOptions, DrawnIds } from "./issue-ids.ts";
import type { PackedNumbers } from "./packed-stream.ts";
import { field3Fixed32 } from "./write-protobuf.ts";

/** On any other machine a Uint32Array does not have the byte order that protobuf requires. */
export const canPackIds = isLittleEndian;

/** How NextIds and BatchNextIds write their IDs: packed, followed by the deployment. */
export abstract class PackedIds<D extends DrawnIds> implements PackedNumbers<D> {
  readonly bytesEach = 8;
  readonly behind: FieldsBehind;

  constructor({ deploymentNow }: AnswerOptions) {
    this.behind = numberBehind(field3Fixed32, deploymentNow);
  }

  abstract draw(count: number): D | Promise<D>;

  write(bytes: Buffer, start: number, { runs, count }: D): number {
    const ids = new Uint32Array(bytes.buffer, bytes.byteOffset + start, count * 2);
    let at = 0;
    for (const run of runs) at = writeRun(run, ids, at);
    return start + count * this.bytesEach;
  }
}
