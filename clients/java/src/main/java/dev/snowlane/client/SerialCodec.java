package dev.snowlane.client;

import java.time.LocalDateTime;
import java.time.YearMonth;
import java.time.ZoneOffset;

/**
 * Serial numbers of one layout: {@code {prefix}{time}{worker}{sequence}}.
 *
 * The time is {@code yyyyMMddHHmmss} and as many digits of the second as distinguish two ticks: none for ticks of 1 s
 * or more, then 1, 2 and 3 for 100, 10 and 1 ms. Below 1 ms the number of the tick within its millisecond follows.
 * Worker (datacenter ID x 2^workerBits + worker ID) and sequence take 4 digits each, or as many as their highest value
 * needs.
 */
final class SerialCodec {

  private static final int DATE_LENGTH = "yyyyMMddHHmmss".length();
  private static final int GROUP_LENGTH_MIN = 4;
  private static final int YEAR_MAX = 9_999;

  /** How many digits follow the prefix. It is the same for every ID, so that a prefix may itself end in digits. */
  final int digitCount;

  private final Layout layout;
  private final long unitMs;
  private final long unitsPerSecond;
  private final int unitLength;
  private final int tickLength;
  private final int workerLength;
  private final int sequenceLength;
  private final int timeLength;

  SerialCodec(Layout layout) {
    this.layout = layout;
    long tickMs = layout.tickNs() / 1_000_000;
    unitMs = tickMs >= 1_000 ? 1_000 : tickMs >= 100 ? 100 : tickMs >= 10 ? 10 : 1;
    unitsPerSecond = 1_000 / unitMs;
    unitLength = lengthOf(unitsPerSecond) - 1;
    tickLength = layout.ticksPerMs() > 1 ? lengthOf(layout.ticksPerMs() - 1) : 0;
    workerLength = Math.max(GROUP_LENGTH_MIN, lengthOf(layout.workerCount() - 1));
    sequenceLength = Math.max(GROUP_LENGTH_MIN, lengthOf(layout.sequence.max()));
    timeLength = DATE_LENGTH + unitLength + tickLength;
    digitCount = timeLength + workerLength + sequenceLength;
  }

  /** The result of reading a text. */
  record Reading(long id, String prefix) {}

  /**
   * @throws SnowlaneException MALFORMED_ID; INVALID_TEXT_FORMAT if the offset moves the time out of the years 0 to 9999
   */
  String write(long id, String prefix, int utcOffsetMinutes) {
    IdParts parts = IdParts.read(layout, id);
    long units = Math.floorDiv(layout.ticksToMs(parts.ticks()), unitMs) + utcOffsetMinutes * 60L * unitsPerSecond;
    long seconds = Math.floorDiv(units, unitsPerSecond);
    LocalDateTime time = LocalDateTime.ofEpochSecond(seconds, 0, ZoneOffset.UTC);
    if (time.getYear() < 0 || time.getYear() > YEAR_MAX) {
      String message = "The offset moves the time into the year " + time.getYear() + ".";
      throw TextFormat.invalid(message, "year", time.getYear());
    }
    StringBuilder text = new StringBuilder(prefix);
    pad(text, time.getYear(), 4);
    pad(text, time.getMonthValue(), 2);
    pad(text, time.getDayOfMonth(), 2);
    pad(text, time.getHour(), 2);
    pad(text, time.getMinute(), 2);
    pad(text, time.getSecond(), 2);
    pad(text, units - seconds * unitsPerSecond, unitLength);
    pad(text, parts.ticks() % layout.ticksPerMs(), tickLength);
    pad(text, parts.datacenterId() * (layout.worker.max() + 1) + parts.workerId(), workerLength);
    pad(text, parts.sequence(), sequenceLength);
    return text.toString();
  }

  /** Reads what {@link #write} writes with the same offset, and nothing else. */
  Reading read(String text, int utcOffsetMinutes) {
    int start = checkShape(text);
    int tickAt = start + DATE_LENGTH + unitLength;
    int workerAt = start + timeLength;
    int sequenceAt = workerAt + workerLength;
    long seconds = readDate(text, start) - utcOffsetMinutes * 60L;
    long timeMs = seconds * 1_000 + number(text, start + DATE_LENGTH, unitLength) * unitMs;
    long wholeTicks = layout.msToTicksUp(timeMs);
    long tickOfMs = number(text, tickAt, tickLength);
    if (tickOfMs >= layout.ticksPerMs()) throw TextFault.TICK.at(tickAt, TextForm.SERIAL);
    long ticks = wholeTicks + tickOfMs;
    boolean isOfLayout = ticks >= 0 && ticks <= layout.timestamp.max();
    if (!isOfLayout || layout.ticksToMs(wholeTicks) >= timeMs + unitMs) throw TextFault.TICK.at(start, TextForm.SERIAL);
    long worker = number(text, workerAt, workerLength);
    if (worker >= layout.workerCount()) throw TextFault.OUT_OF_RANGE.at(workerAt, TextForm.SERIAL);
    long sequence = number(text, sequenceAt, sequenceLength);
    if (sequence > layout.sequence.max()) throw TextFault.OUT_OF_RANGE.at(sequenceAt, TextForm.SERIAL);
    long workerRange = layout.worker.max() + 1;
    long id = layout.compose(ticks, worker / workerRange, worker % workerRange, sequence);
    return new Reading(id, text.substring(0, start));
  }

  /** Where the digits begin. All characters are checked before the length. */
  private int checkShape(String text) {
    int lengthMax = TextFormat.SERIAL_PREFIX_LENGTH_MAX + digitCount;
    for (int i = 0; i < text.length(); i++) {
      char character = text.charAt(i);
      if (i == lengthMax) throw TextFault.TOO_LONG.at(i, TextForm.SERIAL);
      boolean fits = character >= '0' && character <= '9' || character >= 'A' && character <= 'Z';
      if (!fits) throw TextFault.CHARACTER.at(i, TextForm.SERIAL);
    }
    if (text.length() < digitCount) throw TextFault.TOO_SHORT.at(text.length(), TextForm.SERIAL);
    int start = text.length() - digitCount;
    for (int i = start; i < text.length(); i++) {
      if (text.charAt(i) > '9') throw TextFault.CHARACTER.at(i, TextForm.SERIAL);
    }
    return start;
  }

  /** Seconds since 1970 of the {@code yyyyMMddHHmmss} at {@code start}, which are digits. */
  private static long readDate(String text, int start) {
    int year = (int) number(text, start, 4);
    int month = (int) number(text, start + 4, 2);
    int day = (int) number(text, start + 6, 2);
    int hour = (int) number(text, start + 8, 2);
    int minute = (int) number(text, start + 10, 2);
    int second = (int) number(text, start + 12, 2);
    if (month < 1 || month > 12) throw TextFault.DATE.at(start + 4, TextForm.SERIAL);
    if (day < 1 || day > YearMonth.of(year, month).lengthOfMonth()) throw TextFault.DATE.at(start + 6, TextForm.SERIAL);
    if (hour > 23) throw TextFault.DATE.at(start + 8, TextForm.SERIAL);
    if (minute > 59) throw TextFault.DATE.at(start + 10, TextForm.SERIAL);
    if (second > 59) throw TextFault.DATE.at(start + 12, TextForm.SERIAL);
    return LocalDateTime.of(year, month, day, hour, minute, second).toEpochSecond(ZoneOffset.UTC);
  }

  private static long number(String text, int at, int length) {
    return length == 0 ? 0 : Long.parseLong(text, at, at + length, 10);
  }

  private static int lengthOf(long number) {
    return Long.toString(number).length();
  }

  private static void pad(StringBuilder text, long number, int length) {
    if (length == 0) return;
    String digits = Long.toString(number);
    text.append("0".repeat(Math.max(0, length - digits.length()))).append(digits);
  }
}
