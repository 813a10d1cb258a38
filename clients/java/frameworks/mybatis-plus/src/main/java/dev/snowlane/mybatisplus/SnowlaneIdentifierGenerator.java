package dev.snowlane.mybatisplus;

import com.baomidou.mybatisplus.core.incrementer.IdentifierGenerator;
import dev.snowlane.client.PrefetchBuffer;
import java.util.Objects;

/**
 * Gives MyBatis-Plus the IDs of keys with {@code IdType.ASSIGN_ID}, its default, in place of worker IDs that it guesses
 * from a network address. Keys with {@code IdType.ASSIGN_UUID} stay random UUIDs.
 */
public final class SnowlaneIdentifierGenerator implements IdentifierGenerator {

  private final PrefetchBuffer ids;

  /** Takes IDs from a buffer, which the program closes. */
  public SnowlaneIdentifierGenerator(PrefetchBuffer ids) {
    this.ids = Objects.requireNonNull(ids, "ids");
  }

  @Override
  public Number nextId(Object entity) {
    return ids.nextId();
  }
}
