/** Says in words why there is no connection to a server, as far as TLS is the cause; undefined for other causes. */
export function connectionProblem(baseUrl: string, message: string): string | undefined {
  if (/self-signed certificate|unable to (?:verify|get)/.test(message)) {
    return `The certificate of ${baseUrl} is not trusted: ${message}. Give --ca FILE with the authority that signed it.`;
  }
  if (/alert certificate required/.test(message)) {
    return `The server at ${baseUrl} requires a client certificate. Give --cert FILE and --key FILE.`;
  }
  const alert = /SSL routines:.*?alert ([a-z ]+)/.exec(message)?.[1];
  if (alert !== undefined) return `The server at ${baseUrl} refuses the client certificate of --cert: ${alert}.`;
  if (!/closed with error code CANCEL|socket hang up/.test(message)) return undefined;
  const hint = baseUrl.startsWith("http:")
    ? "If it speaks TLS, begin --server with https://."
    : "If it requires a client certificate, give one that it accepts by --cert and --key.";
  return `The server at ${baseUrl} closed the connection. ${hint}`;
}

/** A sentence for a URL without a port, which hardly ever means 80; empty for all others. */
export function portHint(url: string): string {
  const { protocol, port } = new URL(url);
  if (protocol === "unix:" || port !== "" || /:(?:80|443)\/?$/.test(url)) return "";
  const meant = protocol === "https:" ? 443 : 80;
  return ` Without a port it means ${meant}: is it ${url.replace(/\/$/, "")}:7609?`;
}
