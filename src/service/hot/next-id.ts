import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { type CallContext, drawOne, type AnswerOptions } from "./issue-ids.ts";
import { type HotMethod, type HotOperation, LentMessage, prefixBytes } from "./hot-method.ts";
import { field1Fixed64, field3Fixed32, fixed32Bytes, writeFixed32Field, writeFixed64 } from "./write-protobuf.ts";

/** The bytes of the ID with its tag. */
const idBytes = 9;

/** NextId without fields in its request. */
export function createNextId(options: AnswerOptions): HotMethod {
  const { source, deploymentNow } = options;
  const bytes = Buffer.alloc(prefixBytes + idBytes + fixed32Bytes);
  bytes[prefixBytes] = field1Fixed64;
  let deployment = -1;
  let answer: LentMessage;
  const write = (id: bigint): LentMessage => {
    // The same for all answers but the first.
    if (deployment !== deploymentNow()) {
      deployment = deploymentNow();
      const end = writeFixed32Field(bytes, prefixBytes + idBytes, field3Fixed32, deployment);
      bytes[prefixBytes - 1] = end - prefixBytes;
      answer = new LentMessage(bytes.subarray(0, end));
    }
    writeFixed64(bytes, prefixBytes + 1, id);
    return answer;
  };
  const wait = async (context: CallContext): Promise<Uint8Array> => {
    const { runs } = await drawOne(options, context);
    // A copy: several waiting calls are answered in one turn, before the first one's answer is sent.
    return Uint8Array.from(write(runs[0]!.firstId).bytes);
  };
  const next: HotOperation = (context) => {
    const id = source.tryNext();
    return id === undefined ? wait(context) : write(id);
  };
  return {
    descriptor: IdService.method.nextId,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => (message.length === 0 ? next : undefined),
  };
}
