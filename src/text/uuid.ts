import { malformedText } from "./malformed-text.ts";
import { nsPerMsBig } from "../snowflake/nanoseconds.ts";

/** The parts of a UUID. */
export interface UuidInfo {
  /** 0 to 15 in the variant rfc9562; otherwise 0, except 15 for the max UUID. */
  readonly version: number;
  readonly variant: "ncs" | "rfc9562" | "microsoft" | "future";
  /**
   * When it was made, in Unix nanoseconds: versions 1, 6 and 7. Absent past the year 9999, which a
   * google.protobuf.Timestamp cannot represent.
   */
  readonly createTimeNs?: bigint;
  /** 0 to 16,383: versions 1 and 6. */
  readonly clockSequence?: number;
  /** Six octets in hexadecimal with colons: versions 1, 2 and 6. */
  readonly node?: string;
}

const uuidLength = 36;
const hyphenPlaces: ReadonlySet<number> = new Set([8, 13, 18, 23]);
/** 1582-10-15 to 1970-01-01 in units of 100 ns: RFC 9562 section 5.1. */
const gregorianOffset = 0x01b2_1dd2_1381_4000n;
/** 9999-12-31T23:59:59.999Z. */
export const timestampLastMs = 253_402_300_799_999n;
const uuidMax = 2n ** 128n - 1n;

/** Takes `bits` bits of a UUID, to the right of which there are `shift` bits. */
const slice = (uuid: bigint, shift: number, bits: number): bigint =>
  (uuid >> BigInt(shift)) & ((1n << BigInt(bits)) - 1n);

/**
 * Reads any UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12. Capitals are read as well, as RFC 9562 demands;
 * no braces, no `urn:uuid:`.
 *
 * @returns Its 128 bits.
 * @throws IdError MALFORMED_TEXT: character, too_short, too_long.
 */
export function readUuid(text: string): bigint {
  for (let i = 0; i < uuidLength; i++) {
    if (i >= text.length) throw malformedText("uuid", "too_short", i);
    const code = text.charCodeAt(i);
    const letter = code | 32;
    const isDigit = (code >= 48 && code <= 57) || (letter >= 97 && letter <= 102);
    if (hyphenPlaces.has(i) ? code !== 45 : !isDigit) throw malformedText("uuid", "character", i);
  }
  if (text.length > uuidLength) throw malformedText("uuid", "too_long", uuidLength);
  return BigInt(`0x${text.replaceAll("-", "")}`);
}

/**
 * Describes a UUID by RFC 9562. Of version 2 (DCE security, which the RFC leaves to others) only the node: a local ID
 * takes the place of the low 32 bits of the time, and a domain that of half the clock sequence.
 */
export function describeUuid(uuid: bigint): UuidInfo {
  const variant = variantOf(slice(uuid, 61, 3));
  if (variant !== "rfc9562") return { version: uuid === uuidMax ? 15 : 0, variant };
  const version = Number(slice(uuid, 76, 4));
  const node = (): string =>
    slice(uuid, 0, 48)
      .toString(16)
      .padStart(12, "0")
      .replace(/(..)(?!$)/g, "$1:");
  const clockSequence = Number(slice(uuid, 48, 14));
  switch (version) {
    case 1: {
      const time = (slice(uuid, 64, 12) << 48n) | (slice(uuid, 80, 16) << 32n) | slice(uuid, 96, 32);
      return { version, variant, createTimeNs: gregorianToUnixNs(time), clockSequence, node: node() };
    }
    case 2:
      return { version, variant, node: node() };
    case 6: {
      const time = (slice(uuid, 80, 48) << 12n) | slice(uuid, 64, 12);
      return { version, variant, createTimeNs: gregorianToUnixNs(time), clockSequence, node: node() };
    }
    case 7: {
      const ms = slice(uuid, 80, 48);
      return { version, variant, ...(ms > timestampLastMs ? {} : { createTimeNs: ms * nsPerMsBig }) };
    }
    default:
      return { version, variant };
  }
}

function gregorianToUnixNs(time: bigint): bigint {
  return (time - gregorianOffset) * 100n;
}

/** Gives the variant by the three highest bits of the ninth octet: RFC 9562 section 4.1. */
function variantOf(bits: bigint): UuidInfo["variant"] {
  if (bits < 4n) return "ncs";
  if (bits < 6n) return "rfc9562";
  return bits === 6n ? "microsoft" : "future";
}
