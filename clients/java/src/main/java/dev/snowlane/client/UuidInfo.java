package dev.snowlane.client;

import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The fields of a UUID, by RFC 9562.
 *
 * @param version 0 to 15 in the variant RFC9562; else 0, but 15 for the max UUID
 * @param createTime when it was made: versions 1, 6 and 7, up to the year 9999
 * @param clockSequence 0 to 16,383: versions 1 and 6
 * @param node six octets in hexadecimal with colons: versions 1, 2 and 6
 */
public record UuidInfo(
    int version, Variant variant, Optional<Instant> createTime, OptionalInt clockSequence, Optional<String> node) {

  /** The standard that defines the other bits. */
  public enum Variant {
    NCS,
    RFC9562,
    MICROSOFT,
    FUTURE;

    /** Its name in vectors: {@code rfc9562}. */
    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** 1582-10-15 to 1970-01-01 in units of 100 ns: RFC 9562 section 5.1. */
  private static final long GREGORIAN_OFFSET = 0x01b2_1dd2_1381_4000L;

  private static final long TIMESTAMP_LAST_MS = 253_402_300_799_999L;
  private static final long UNITS_PER_SECOND = 10_000_000;

  /** Of version 2, which the RFC leaves to others, only the node is read. */
  static UuidInfo of(UUID uuid) {
    long high = uuid.getMostSignificantBits();
    long low = uuid.getLeastSignificantBits();
    Variant variant = variantOf((int) (low >>> 61));
    if (variant != Variant.RFC9562) return plain(high == -1 && low == -1 ? 15 : 0, variant);
    int version = (int) (high >>> 12 & 0xf);
    return switch (version) {
      case 1 -> gregorian(version, (high & 0xfff) << 48 | (high >>> 16 & 0xffff) << 32 | high >>> 32, low);
      case 2 -> new UuidInfo(version, variant, Optional.empty(), OptionalInt.empty(), Optional.of(nodeOf(low)));
      case 6 -> gregorian(version, high >>> 16 << 12 | high & 0xfff, low);
      case 7 -> unix(version, high >>> 16);
      default -> plain(version, variant);
    };
  }

  private static UuidInfo plain(int version, Variant variant) {
    return new UuidInfo(version, variant, Optional.empty(), OptionalInt.empty(), Optional.empty());
  }

  private static UuidInfo unix(int version, long ms) {
    Optional<Instant> time = ms > TIMESTAMP_LAST_MS ? Optional.empty() : Optional.of(Instant.ofEpochMilli(ms));
    return new UuidInfo(version, Variant.RFC9562, time, OptionalInt.empty(), Optional.empty());
  }

  private static UuidInfo gregorian(int version, long time, long low) {
    long units = time - GREGORIAN_OFFSET;
    long nanos = Math.floorMod(units, UNITS_PER_SECOND) * 100;
    Instant createTime = Instant.ofEpochSecond(Math.floorDiv(units, UNITS_PER_SECOND), nanos);
    OptionalInt clockSequence = OptionalInt.of((int) (low >>> 48 & 0x3fff));
    return new UuidInfo(version, Variant.RFC9562, Optional.of(createTime), clockSequence, Optional.of(nodeOf(low)));
  }

  private static String nodeOf(long low) {
    byte[] octets = new byte[6];
    for (int i = 0; i < octets.length; i++) octets[i] = (byte) (low >>> 8 * (5 - i));
    return HexFormat.ofDelimiter(":").formatHex(octets);
  }

  /** By the three highest bits of the ninth octet: RFC 9562 section 4.1. */
  private static Variant variantOf(int bits) {
    if (bits < 4) return Variant.NCS;
    if (bits < 6) return Variant.RFC9562;
    return bits == 6 ? Variant.MICROSOFT : Variant.FUTURE;
  }
}
