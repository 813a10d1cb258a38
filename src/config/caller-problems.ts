import { formatAddress, isLoopback } from "./address.ts";
import type { SettingProblem } from "./load-settings.ts";
import type { ServerConfig } from "./server-settings.ts";

/** Problems of the settings that say who may call a server: it must never be open by mistake. */
export function callerProblems(config: ServerConfig): readonly SettingProblem[] {
  const { auth, principals, tlsCert, tlsClientCa, tlsClientAuth, quotaIdsPerSecond, listen } = config;
  const problems: SettingProblem[] = [];
  const named = [
    ...(principals === undefined ? [] : ["--principals"]),
    ...(tlsClientCa === undefined ? [] : ["--tls-client-ca"]),
  ];
  if (auth === "none" && named.length > 0) {
    const hint = `Leave it out, because not everybody may call with ${named.join(" and ")}.`;
    problems.push({ place: "--auth", value: auth, hint });
  }
  if (auth === "required" && named.length === 0) {
    const hint = "Give --principals or --tls-client-ca as well: they say who may call.";
    problems.push({ place: "--auth", value: auth, hint });
  }
  if (auth === undefined && named.length === 0 && !isLoopback(listen.host)) {
    const hint =
      "Other machines can reach it: say who may call with --principals or --tls-client-ca, give --auth none if every caller " +
      "there may, or listen on 127.0.0.1.";
    problems.push({ place: "--listen", value: formatAddress(listen), hint });
  }
  problems.push(...adminProblems(config));
  if (quotaIdsPerSecond !== undefined && principals === undefined) {
    const hint = "Give --principals as well: a quota belongs to a principal.";
    problems.push({ place: "--quota-ids-per-second", value: String(quotaIdsPerSecond), hint });
  }
  if (tlsClientCa !== undefined && tlsCert === undefined) {
    problems.push({ place: "--tls-client-ca", value: tlsClientCa, hint: "Give --tls-cert and --tls-key as well." });
  }
  if (tlsClientAuth === "optional" && named.length < 2) {
    const hint = "Give --tls-client-ca and --principals as well: callers without a certificate need a token.";
    problems.push({ place: "--tls-client-auth", value: tlsClientAuth, hint });
  }
  return problems;
}

function adminProblems({ adminListen, listen, auth, principals }: ServerConfig): readonly SettingProblem[] {
  if (adminListen === undefined) return [];
  const problem = { place: "--admin-listen", value: formatAddress(adminListen) };
  if (adminListen.port !== 0 && adminListen.port === listen.port) {
    return [{ ...problem, hint: `Choose another port: --listen has ${formatAddress(listen)}.` }];
  }
  if (isLoopback(adminListen.host) || principals !== undefined || auth === "none") return [];
  const hint =
    "Other machines can reach it: say who may observe with --principals, give --auth none if every caller may, or listen " +
    "on 127.0.0.1.";
  return [{ ...problem, hint }];
}
