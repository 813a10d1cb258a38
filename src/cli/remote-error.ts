import { Code, ConnectError } from "@connectrpc/connect";
import { CommandError, exitCodes } from "./exit-code.ts";

/** Makes a function that reports a failed call: it always throws a CommandError. */
export function refuseCall(baseUrl: string): (error: unknown) => never {
  return (error) => {
    const { code, rawMessage } = ConnectError.from(error);
    const unreachable = code === Code.Unavailable && /ECONN|ENOTFOUND|EAI_AGAIN|EHOST|ENET/.test(rawMessage);
    const message = unreachable
      ? `No server answers at ${baseUrl}. Start one with snowlane serve, or leave --server out.`
      : `The server at ${baseUrl} says ${Code[code]}: ${rawMessage}`;
    throw new CommandError(message, exitCodes.refused);
  };
}
