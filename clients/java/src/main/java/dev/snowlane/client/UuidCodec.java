package dev.snowlane.client;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * UUIDs of version 7 that hold the IDs of one layout and namespace.
 *
 * The Unix millisecond of the ID's tick in 48 bits; then, in the 74 free bits, the number of the tick within its
 * millisecond (none for ticks of 1 ms or more), the ID's bits without its timestamp, and a filler. The UUID is unique
 * because the ID is.
 */
final class UuidCodec {

  private static final int LENGTH = 36;

  /** rand_b, and rand_a with it, of RFC 9562 section 5.7: the bits that version 7 leaves free. */
  private static final int RAND_B_BITS = 62;

  private static final int PAYLOAD_BITS = 12 + RAND_B_BITS;
  private static final int HASH_BITS = 256;

  /**
   * The bits that are equal in all of them: a UUID made elsewhere is taken for one of these with a chance of
   * 2^-fillerBits.
   */
  final int fillerBits;

  private final Layout layout;
  private final int otherBits;
  private final BigInteger filler;

  UuidCodec(Layout layout, String namespace) {
    this.layout = layout;
    int tickBits = BigInteger.valueOf(layout.ticksPerMs() - 1).bitLength();
    otherBits = layout.bits() - layout.timestamp.bits();
    fillerBits = PAYLOAD_BITS - tickBits - otherBits;
    filler = fillerOf(layout, namespace, fillerBits);
  }

  /**
   * Reads any UUID: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12. Capitals are read as well.
   *
   * @throws SnowlaneException MALFORMED_TEXT
   */
  static UUID read(String text) {
    for (int i = 0; i < LENGTH; i++) {
      if (i >= text.length()) throw TextFault.TOO_SHORT.at(i, TextForm.UUID);
      char character = text.charAt(i);
      boolean isHyphenPlace = i == 8 || i == 13 || i == 18 || i == 23;
      char letter = (char) (character | 32);
      boolean isDigit = character >= '0' && character <= '9' || letter >= 'a' && letter <= 'f' && character < 128;
      if (isHyphenPlace ? character != '-' : !isDigit) throw TextFault.CHARACTER.at(i, TextForm.UUID);
    }
    if (text.length() > LENGTH) throw TextFault.TOO_LONG.at(LENGTH, TextForm.UUID);
    return UUID.fromString(text);
  }

  /**
   * @throws SnowlaneException MALFORMED_ID; INVALID_TEXT_FORMAT for an ID from before 1970, which version 7 cannot
   *     express
   */
  String write(long id) {
    long ticks = IdParts.read(layout, id).ticks();
    long ms = layout.ticksToMs(ticks);
    if (ms < 0) throw TextFormat.invalid("An ID from before 1970 cannot be written as a UUID.", "create_ms", ms);
    BigInteger tickOfMs = BigInteger.valueOf(ticks % layout.ticksPerMs());
    BigInteger head = tickOfMs.shiftLeft(otherBits).or(BigInteger.valueOf(otherOf(id)));
    BigInteger payload = head.shiftLeft(fillerBits).or(filler);
    long randA = payload.shiftRight(RAND_B_BITS).longValue();
    long randB = payload.longValue() & (1L << RAND_B_BITS) - 1;
    return new UUID(ms << 16 | 7L << 12 | randA, 2L << RAND_B_BITS | randB).toString();
  }

  /** The ID that a UUID holds; empty if the UUID is not of this layout and namespace. */
  OptionalLong idOf(UUID uuid) {
    UuidInfo info = UuidInfo.of(uuid);
    if (info.variant() != UuidInfo.Variant.RFC9562 || info.version() != 7) return OptionalLong.empty();
    BigInteger randA = BigInteger.valueOf(uuid.getMostSignificantBits() & 0xfff);
    long randB = uuid.getLeastSignificantBits() & (1L << RAND_B_BITS) - 1;
    BigInteger payload = randA.shiftLeft(RAND_B_BITS).or(BigInteger.valueOf(randB));
    BigInteger head = payload.shiftRight(fillerBits);
    if (!payload.equals(head.shiftLeft(fillerBits).or(filler))) return OptionalLong.empty();
    long ms = uuid.getMostSignificantBits() >>> 16;
    long wholeTicks = layout.msToTicksUp(ms);
    long tickOfMs = head.shiftRight(otherBits).longValue();
    if (layout.ticksToMs(wholeTicks) != ms || tickOfMs >= layout.ticksPerMs()) return OptionalLong.empty();
    long ticks = wholeTicks + tickOfMs;
    if (ticks < 0 || ticks > layout.timestamp.max()) return OptionalLong.empty();
    long other = head.subtract(BigInteger.valueOf(tickOfMs).shiftLeft(otherBits)).longValue();
    return OptionalLong.of(withTicks(other, ticks));
  }

  /** The ID's bits without its timestamp. */
  private long otherOf(long id) {
    int shift = layout.timestamp.shift();
    int above = shift + layout.timestamp.bits();
    return (above == 63 ? 0 : id >>> above << shift) | id & (1L << shift) - 1;
  }

  private long withTicks(long other, long ticks) {
    int shift = layout.timestamp.shift();
    int above = shift + layout.timestamp.bits();
    return (above == 63 ? 0 : other >>> shift << above) | ticks << shift | other & (1L << shift) - 1;
  }

  /** The leading bits of a hash over the layout, without its name, and the namespace. */
  private static BigInteger fillerOf(Layout layout, String namespace, int bits) {
    String fields =
        layout.fields().stream().map(field -> field.kind() + ":" + field.bits()).collect(Collectors.joining(","));
    String seed =
        String.join("\n", "snowlane uuid 1", "" + layout.epochMs(), "" + layout.tickNs(), fields, namespace);
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(seed.getBytes(StandardCharsets.UTF_8));
      return new BigInteger(1, digest).shiftRight(HASH_BITS - bits);
    } catch (NoSuchAlgorithmException impossible) {
      throw new AssertionError("every Java has SHA-256", impossible);
    }
  }
}
