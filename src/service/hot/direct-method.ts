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
 * Makes a direct method from one that works on messages and does not use its call's context: protobuf-es reads and
 * writes the messages. This avoids Connect's handlers, which take ten times as long. Only for the binary form. See
 * docs/adr/0120.
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

/** Reads a message; undefined if the bytes are not one, so that the general way reports what is wrong. */
function readMessage<Input extends DescMessage>(input: Input, bytes: Buffer): MessageShape<Input> | undefined {
  try {
    // Read from a copy: the bytes are only lent, and a message keeps those of its bytes fields.
    return fromBinary(input, Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}
