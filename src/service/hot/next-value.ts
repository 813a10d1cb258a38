import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import type { ValueSource } from "../../sequence/value-source.ts";
import type { CallContext } from "./issue-ids.ts";
import { drawOneValue, type ValueOptions } from "./issue-values.ts";
import { type HotMethod, type HotOperation, LentMessage, prefixBytes } from "./hot-method.ts";
import { findNamed, nameEnd } from "./read-named.ts";
import { field1Varint } from "./read-varints.ts";
import { field4Fixed32, fixed32Bytes, int64BytesMax, writeFixed32Field, writeInt64 } from "./write-protobuf.ts";

/** NextValue of a sequence that is in memory, and whose values have neither text nor period. */
export function createNextValue(options: ValueOptions): HotMethod {
  const bytes = Buffer.alloc(prefixBytes + 1 + int64BytesMax + fixed32Bytes);
  bytes[prefixBytes] = field1Varint;
  // One for each length, made once; all of them share the same memory.
  const answers = Array.from({ length: bytes.length + 1 }, (_, end) => new LentMessage(bytes.subarray(0, end)));
  const write = (value: bigint): LentMessage => {
    const valueEnd = writeInt64(bytes, prefixBytes + 1, value);
    const end = writeFixed32Field(bytes, valueEnd, field4Fixed32, options.databaseNow());
    bytes[prefixBytes - 1] = end - prefixBytes;
    return answers[end]!;
  };
  const wait = async (source: ValueSource, context: CallContext): Promise<Uint8Array> => {
    const { runs } = await drawOneValue(options, source, context);
    // A copy: several waiting calls are answered in one turn, before the first one's answer is sent.
    return Uint8Array.from(write(runs[0]!.firstValue).bytes);
  };
  const next =
    (source: ValueSource): HotOperation =>
    (context) => {
      const value = source.tryNext();
      return value === undefined ? wait(source, context) : write(value);
    };
  return {
    descriptor: SequenceService.method.nextValue,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => {
      if (nameEnd(message) !== message.length) return undefined;
      const source = findNamed(options, message);
      return source === undefined ? undefined : next(source);
    },
  };
}
