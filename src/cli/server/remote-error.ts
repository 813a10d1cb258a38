import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { connectionProblem, portHint } from "./connection-problem.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import type { ServerAccess } from "./server-access.ts";

/** Makes a function that reports a failed call: it always throws a CommandError. */
export function refuseCall({ url, authorization }: ServerAccess): (error: unknown) => never {
  return (error) => {
    const refused = ConnectError.from(error);
    throw new CommandError(messageOf(url, refused, authorization !== undefined), exitCodes.refused);
  };
}

function messageOf(url: string, refused: ConnectError, hasToken: boolean): string {
  const { code, rawMessage } = refused;
  const isOfSocket = code === Code.Internal && /connect (?:ENOENT|EACCES)/.test(rawMessage);
  if (isOfSocket || (code === Code.Unavailable && /ECONN|ENOTFOUND|EAI_AGAIN|EHOST|ENET/.test(rawMessage))) {
    if (rawMessage.includes("EACCES")) return `This user may not connect to ${url}: see --socket-mode of the server.`;
    return `No server answers at ${url}.${portHint(url)} Start one with snowlane serve, or correct --server.`;
  }
  const connection = connectionProblem(url, rawMessage);
  if (connection !== undefined) return connection;
  const [info] = refused.findDetails(ErrorInfoSchema);
  const hint =
    code === Code.Unauthenticated && !hasToken ? " Give --token-file FILE, or --cert FILE and --key FILE." : "";
  return `The server at ${url} refuses the call, ${info?.reason ?? Code[code]}: ${rawMessage}${hint}`;
}
