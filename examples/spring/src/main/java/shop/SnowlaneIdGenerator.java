package shop;

import dev.snowlane.client.PrefetchBuffer;
import java.util.EnumSet;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.springframework.stereotype.Component;

/** Made by Spring, which hands it the buffer that all entities share. */
@Component
public class SnowlaneIdGenerator implements BeforeExecutionGenerator {
  private final PrefetchBuffer ids;

  SnowlaneIdGenerator(PrefetchBuffer ids) {
    this.ids = ids;
  }

  @Override
  public Object generate(SharedSessionContractImplementor session, Object owner, Object value, EventType event) {
    return ids.nextId();
  }

  @Override
  public EnumSet<EventType> getEventTypes() {
    return EventTypeSets.INSERT_ONLY;
  }
}
