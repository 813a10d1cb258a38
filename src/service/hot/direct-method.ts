import {
  create,
  type DescMethodUnary,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import type { HotMethod } from "./hot-method.ts";
import { withPrefix } from "./write-protobuf.ts";

/**
 * Makes a direct method of one that works on messages and needs nothing of its call: protobuf-es reads and writes them.
 * That saves Connect's handlers, which take ten times as long. In the binary form alone. docs/adr/0120
 *
 * @param answer - Makes the response of a request, as in the service's implementation.
 */
export function createDirectMethod<Input extends DescMessage, Output extends DescMessage>(
  descriptor: DescMethodUnary<Input, Output>,
  answer: (request: MessageShape<Input>) => MessageInitShape<Output> | Promise<MessageInitShape<Output>>,
): HotMethod {
  const { input, output } = descriptor;
  const write = (response: MessageInitShape<Output>): Uint8Array =>
    withPrefix(0, toBinary(output, create(output, response)));
  return {
    descriptor,
    hasPlainJson: false,
    kind: "direct",
    read: (bytes) => {
      const request = readMessage(input, bytes);
      if (request === undefined) return undefined;
      return () => {
        const response = answer(request);
        return response instanceof Promise ? response.then(write) : write(response);
      };
    },
  };
}

/** Reads a message; undefined if it is none, so that the general way says what is wrong with it. */
function readMessage<Input extends DescMessage>(input: Input, bytes: Buffer): MessageShape<Input> | undefined {
  try {
    // Of a copy: the bytes are only lent, and a message keeps those of its fields.
    return fromBinary(input, Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}
