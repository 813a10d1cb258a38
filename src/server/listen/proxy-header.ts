/**
 * The header of the PROXY protocol, by which a proxy that passes bytes on names their sender:
 * https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt, version 1 (text) and version 2 (binary).
 */
import { isIPv4, isIPv6 } from "node:net";

/** The bytes at the beginning of a connection, read as far as they have come. */
export type ProxyHeader =
  | { readonly kind: "incomplete" }
  | { readonly kind: "malformed" }
  /** `address` is undefined where the proxy speaks for itself, as in its health checks. */
  | { readonly kind: "read"; readonly address: string | undefined; readonly byteCount: number };

const textStart = Buffer.from("PROXY ");
/** Section 2.1: the longest header of version 1, with its end of line. */
const textBytesMax = 107;
const binaryStart = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
/** Section 2.2: the length of a header of version 2 before the addresses. */
const fixedBytes = 16;
/** The longest part of version 2 after the fixed one: addresses take 36 bytes, and proxies add a few more fields. */
const addressBytesMax = 4_096;
/** The family and the transport of TCP over IPv4 and over IPv6. */
const tcp4 = 0x11;
const tcp6 = 0x21;

/** Reads the header at the beginning of `bytes`. */
export function readProxyHeader(bytes: Buffer): ProxyHeader {
  if (startsAs(bytes, binaryStart)) return readBinary(bytes);
  if (startsAs(bytes, textStart)) return readText(bytes);
  return { kind: "malformed" };
}

/** Whether `bytes` begin with `start`, or are the beginning of it. */
function startsAs(bytes: Buffer, start: Buffer): boolean {
  const count = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, count, 0, count) === 0;
}

function readText(bytes: Buffer): ProxyHeader {
  const line = bytes.toString("latin1", 0, textBytesMax);
  const end = line.indexOf("\r\n");
  if (end < 0) return { kind: bytes.length < textBytesMax ? "incomplete" : "malformed" };
  const byteCount = end + 2;
  const [, family, source, target, ...ports] = line.slice(0, end).split(" ");
  if (family === "UNKNOWN") return { kind: "read", address: undefined, byteCount };
  const isAddress = family === "TCP4" ? isIPv4 : family === "TCP6" ? isIPv6 : () => false;
  const isGood = isAddress(source ?? "") && isAddress(target ?? "") && ports.length === 2 && ports.every(isPort);
  return isGood ? { kind: "read", address: source, byteCount } : { kind: "malformed" };
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535;
}

function readBinary(bytes: Buffer): ProxyHeader {
  if (bytes.length < fixedBytes) return { kind: "incomplete" };
  const [versionAndCommand, family] = [bytes[12]!, bytes[13]!];
  const isLocal = versionAndCommand === 0x20;
  const addressBytes = bytes.readUInt16BE(14);
  if ((!isLocal && versionAndCommand !== 0x21) || addressBytes > addressBytesMax) return { kind: "malformed" };
  const wantedBytes = family === tcp4 ? 12 : family === tcp6 ? 36 : 0;
  if (!isLocal && addressBytes < wantedBytes) return { kind: "malformed" };
  const byteCount = fixedBytes + addressBytes;
  if (bytes.length < byteCount) return { kind: "incomplete" };
  return { kind: "read", address: isLocal ? undefined : addressOf(bytes, family), byteCount };
}

/** The source address; undefined for what is not TCP. */
function addressOf(bytes: Buffer, family: number): string | undefined {
  if (family === tcp4) return bytes.subarray(fixedBytes, fixedBytes + 4).join(".");
  if (family !== tcp6) return undefined;
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(fixedBytes + 2 * index).toString(16));
  return groups.join(":");
}
