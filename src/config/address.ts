import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** Where a server listens. */
export interface Address {
  /** A host name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  /** 0 to 65,535; for 0 the system chooses a free port. */
  readonly port: number;
}

/** A setting that takes `HOST:PORT`, an IPv6 host in brackets. */
export function address(base: SettingBase): Setting<Address> {
  return { placeholder: "HOST:PORT", ...base, parse: parseAddress, format: formatAddress };
}

function parseAddress(text: string): Address {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|(\w[\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) throw new SettingError("HOST:PORT, such as 127.0.0.1:7609 or [::1]:7609");
  return { host, port };
}

/** `127.0.0.1:7609`, `[::1]:7609`. */
export function formatAddress({ host, port }: Address): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Tells whether a host can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
