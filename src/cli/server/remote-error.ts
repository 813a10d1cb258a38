import { Code, ConnectError } from "@connectrpc/connect";
import { connectionProblem } from "./connection-problem.ts";
import { CommandError, exitCodes } from "../exit-code.ts";

/** Makes a function that reports a failed call: it always throws a CommandError. */
export function refuseCall(baseUrl: string): (error: unknown) => never {
  return (error) => {
    const { code, rawMessage } = ConnectError.from(error);
    throw new CommandError(messageOf(baseUrl, code, rawMessage), exitCodes.refused);
  };
}

function messageOf(baseUrl: string, code: Code, rawMessage: string): string {
  if (code === Code.Unavailable && /ECONN|ENOTFOUND|EAI_AGAIN|EHOST|ENET/.test(rawMessage)) {
    return `No server answers at ${baseUrl}. Start one with snowlane serve, or leave --server out.`;
  }
  const connection = connectionProblem(baseUrl, rawMessage);
  if (connection !== undefined) return connection;
  const cure = code === Code.Unauthenticated ? " Give --token-file FILE, or --cert FILE and --key FILE." : "";
  return `The server at ${baseUrl} says ${Code[code]}: ${rawMessage}${cure}`;
}
