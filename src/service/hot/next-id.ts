import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { type CallContext, drawOne, type IssueOptions } from "./issue-ids.ts";
import { type HotMethod, type HotOperation, LentMessage, prefixBytes } from "./hot-method.ts";
import { field1Fixed64, writeFixed64 } from "./write-protobuf.ts";

/** NextId without fields in its request. */
export function createNextId(options: IssueOptions): HotMethod {
  const { source } = options;
  const bytes = Buffer.from([0, 0, 0, 0, 9, field1Fixed64, 0, 0, 0, 0, 0, 0, 0, 0]);
  const answer = new LentMessage(bytes);
  const write = (id: bigint): LentMessage => {
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
    isExpensive: false,
    read: (message) => (message.length === 0 ? next : undefined),
  };
}
