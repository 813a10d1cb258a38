import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { type AnswerOptions, type CallContext, checkNextCount, drawList, type DrawnIds } from "./issue-ids.ts";
import { canPackIds, PackedIds } from "./packed-ids.ts";
import { PackedStream } from "./packed-stream.ts";
import { field1Varint, readVarints, uint32Max } from "./read-varints.ts";

/** NextIds without texts. */
export function createNextIds(options: AnswerOptions): HotMethod {
  return {
    descriptor: IdService.method.nextIds,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => readNextIds(options, message),
  };
}

function readNextIds(options: AnswerOptions, message: Buffer): HotOperation | undefined {
  const fields = canPackIds ? readVarints(message, field1Varint) : undefined;
  if (fields === undefined || fields[0] > uint32Max) return undefined;
  const [count] = fields;
  return (context) => {
    checkNextCount(count);
    // One message of all the IDs, so that the first one is the answer.
    return new PackedStream(count, count, new ListedIds(options, context)).next()!;
  };
}

class ListedIds extends PackedIds<DrawnIds> {
  readonly #options: AnswerOptions;
  readonly #context: CallContext;

  constructor(options: AnswerOptions, context: CallContext) {
    super(options);
    this.#options = options;
    this.#context = context;
  }

  draw(count: number): DrawnIds | Promise<DrawnIds> {
    return drawList(this.#options, count, this.#context);
  }
}
