package shop;

import dev.snowlane.client.IdClient;
import dev.snowlane.client.PrefetchBuffer;
import java.time.Duration;
import java.util.EnumSet;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;

/** One buffer for all entities of the program. */
public class SnowlaneIdGenerator implements BeforeExecutionGenerator {
  // The first call loads gRPC, which can take seconds on a busy machine.
  static final IdClient CLIENT =
      IdClient.builder().endpoints(System.getenv("SNOWLANE_URL")).timeout(Duration.ofSeconds(30)).build();
  private static final PrefetchBuffer IDS = CLIENT.prefetch();

  @Override
  public Object generate(SharedSessionContractImplementor session, Object owner, Object value, EventType event) {
    return IDS.nextId();
  }

  @Override
  public EnumSet<EventType> getEventTypes() {
    return EventTypeSets.INSERT_ONLY;
  }
}
