/** Random HTTP/2 input, from sound to senseless: what a client could send after its preface. */
import { frameFlag, frameType, settingId } from "../../../src/http2/frame.ts";
import { frame, type FieldPairs, indexedBlock, rawBlock, requestFields, settings, uint32 } from "./http2-wire.ts";
import type { SeededRandom } from "../worlds/seeded-random.ts";

/** Frames of a client that keeps to the rules: each entry is one frame. */
export function soundScript(random: SeededRandom, requestCount: number): readonly Buffer[] {
  const frames: Buffer[] = [];
  for (let request = 0; request < requestCount; request++) {
    const id = 2 * request + 1;
    frames.push(...requestFrames(random, id));
    if (random.oneIn(3)) frames.push(frame(frameType.ping, 0, 0, random.bytes(8)));
    if (random.oneIn(3)) frames.push(frame(frameType.windowUpdate, 0, 0, uint32(1 + random.below(5_000))));
    if (random.oneIn(5)) frames.push(settings([settingId.initialWindowSize, 10_000 + random.below(90_000)]));
    if (random.oneIn(5)) frames.push(frame(frameType.rstStream, 0, id, uint32(8)));
    if (random.oneIn(9))
      frames.push(frame(100 + random.below(100), random.below(256), random.below(99), random.bytes(5)));
    if (random.oneIn(9)) frames.push(frame(frameType.priority, 0, id, Buffer.concat([uint32(0), Buffer.of(9)])));
  }
  return frames;
}

function requestFrames(random: SeededRandom, id: number): readonly Buffer[] {
  const fields: FieldPairs = [...requestFields, ["x-number", String(random.below(20))], ["te", "trailers"]];
  const block = Buffer.concat([
    rawBlock(fields),
    indexedBlock([[`x-${random.below(9)}`, "v".repeat(random.below(90))]]),
  ]);
  const endsAtOnce = random.oneIn(3);
  const frames = blockFrames(random, id, block, endsAtOnce);
  if (endsAtOnce) return frames;
  for (let chunk = random.below(4); chunk > 0; chunk--) frames.push(dataFrame(random, id, false));
  const trailers = rawBlock([["x-trailer", "t"]]);
  frames.push(...(random.oneIn(4) ? blockFrames(random, id, trailers, true) : [dataFrame(random, id, true)]));
  return frames;
}

function blockFrames(random: SeededRandom, id: number, block: Buffer, endsStream: boolean): Buffer[] {
  const flags = endsStream ? frameFlag.endStream : 0;
  if (random.oneIn(2)) return [frame(frameType.headers, flags | frameFlag.endHeaders, id, block)];
  const cut = random.below(block.length + 1);
  return [
    frame(frameType.headers, flags, id, block.subarray(0, cut)),
    frame(frameType.continuation, frameFlag.endHeaders, id, block.subarray(cut)),
  ];
}

function dataFrame(random: SeededRandom, id: number, endsStream: boolean): Buffer {
  const flags = endsStream ? frameFlag.endStream : 0;
  const bytes = random.bytes(random.below(400));
  if (random.oneIn(2)) return frame(frameType.data, flags, id, bytes);
  const padding = random.below(50);
  return frame(
    frameType.data,
    flags | frameFlag.padded,
    id,
    Buffer.concat([Buffer.of(padding), bytes, Buffer.alloc(padding)]),
  );
}

/**
 * Frames of a client that may break any rule: sound ones, with types, flags, numbers, lengths and payloads changed here
 * and there.
 */
export function brokenScript(random: SeededRandom, requestCount: number): readonly Buffer[] {
  const frames = soundScript(random, requestCount);
  const mutated: Buffer[] = [];
  const oneInAbout = random.pick([20, 100, 500]);
  for (const original of frames) {
    const bytes = Buffer.from(original);
    switch (random.below(oneInAbout)) {
      case 0:
        bytes[3] = random.below(11);
        break;
      case 1:
        bytes[4] = random.below(256);
        break;
      case 2:
        bytes.writeUInt32BE(random.below(2 * requestCount + 4), 5);
        break;
      case 3:
        if (bytes.length > 9) bytes[9 + random.below(bytes.length - 9)] = random.below(256);
        break;
      case 4:
        bytes[random.below(bytes.length)] = random.below(256);
        break;
      case 5:
        mutated.push(random.pick(frames));
        break;
      case 6:
        mutated.push(frame(random.below(11), random.below(256), random.below(9), random.bytes(random.below(40))));
        break;
      case 7: // shortened, its length kept right
        if (bytes.length > 9) {
          const length = random.below(bytes.length - 9);
          bytes.writeUIntBE(length, 0, 3);
          mutated.push(bytes.subarray(0, 9 + length));
          continue;
        }
        break;
      default:
    }
    mutated.push(bytes);
  }
  return mutated;
}
