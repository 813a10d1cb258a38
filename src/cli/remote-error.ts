import { Code, ConnectError } from "@connectrpc/connect";
import { CommandError, exitCodes } from "./exit-code.ts";

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

/** Says in words why there is no connection to a server, as far as TLS is the cause; undefined for other causes. */
export function connectionProblem(baseUrl: string, message: string): string | undefined {
  if (/self-signed certificate|unable to (?:verify|get)/.test(message)) {
    return `The certificate of ${baseUrl} is not trusted: ${message}. Give --ca FILE with the authority that signed it.`;
  }
  if (/alert certificate required/.test(message)) {
    return `The server at ${baseUrl} wants a client certificate. Give --cert FILE and --key FILE.`;
  }
  const alert = /SSL routines:.*?alert ([a-z ]+)/.exec(message)?.[1];
  if (alert !== undefined) return `The server at ${baseUrl} refuses the client certificate of --cert: ${alert}.`;
  if (!/closed with error code CANCEL|socket hang up/.test(message)) return undefined;
  const cure = baseUrl.startsWith("http:")
    ? "If it speaks TLS, begin --server with https://."
    : "If it wants a client certificate, give one that it accepts by --cert and --key.";
  return `The server at ${baseUrl} closed the connection. ${cure}`;
}
