import { type Setting, SettingError } from "./setting.ts";
import type { SettingBase } from "./setting-kinds.ts";

/** Where a server listens. */
export interface Address {
  /** A host name, an IPv4 address, an IPv6 address without brackets, or `unix:` and the path of a socket. */
  readonly host: string;
  /** 0 to 65,535; for 0 the system chooses a free port. 0 for a socket. */
  readonly port: number;
}

/** A setting that takes `HOST:PORT`, an IPv6 host in brackets. */
export function address(base: SettingBase): Setting<Address> {
  return { placeholder: "HOST:PORT", ...base, parse: parseAddress, format: formatAddress };
}

/** A setting that takes `HOST:PORT` or `unix:/PATH`. */
export function addressOrSocket(base: SettingBase): Setting<Address> {
  return { ...address(base), parse: (text) => (text.startsWith(unixScheme) ? parseSocket(text) : parseAddress(text)) };
}

const unixScheme = "unix:";
/** The room for a path in Linux' sockaddr_un, without its last byte. */
const socketPathBytesMax = 107;

function parseSocket(text: string): Address {
  const path = text.slice(unixScheme.length);
  if (!path.startsWith("/") || Buffer.byteLength(path) > socketPathBytesMax || path.includes("\0"))
    throw new SettingError(
      `unix: and a whole path of at most ${socketPathBytesMax} bytes, such as unix:/run/snowlane.sock`,
    );
  return { host: text, port: 0 };
}

/** The path of a Unix socket; undefined for a TCP address. */
export function socketPathOf({ host }: Address): string | undefined {
  return host.startsWith(unixScheme) ? host.slice(unixScheme.length) : undefined;
}

function parseAddress(text: string): Address {
  const [, bracketed, plain, digits] = /^(?:\[([0-9a-fA-F:.]+)\]|(\w[\w.-]*)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  if (host === undefined || port > 65_535) throw new SettingError("HOST:PORT, such as 127.0.0.1:7609 or [::1]:7609");
  return { host, port };
}

/** `127.0.0.1:7609`, `[::1]:7609`, `unix:/run/snowlane.sock`. */
export function formatAddress({ host, port }: Address): string {
  if (host.startsWith(unixScheme)) return host;
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Tells whether a host can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return (
    host.startsWith(unixScheme) ||
    host === "localhost" ||
    host === "::1" ||
    /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
  );
}
