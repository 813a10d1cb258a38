package dev.snowlane.hibernate;

import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.util.EnumSet;
import org.hibernate.MappingException;
import org.hibernate.engine.spi.SharedSessionContractImplementor;
import org.hibernate.generator.AnnotationBasedGenerator;
import org.hibernate.generator.BeforeExecutionGenerator;
import org.hibernate.generator.EventType;
import org.hibernate.generator.EventTypeSets;
import org.hibernate.generator.GeneratorCreationContext;

/** The generator of {@link SnowlaneId}. It takes IDs from the {@link SnowlaneIds} of its session factory. */
public final class SnowlaneIdGenerator implements BeforeExecutionGenerator, AnnotationBasedGenerator<SnowlaneId> {

  /**
   * @throws MappingException for a member that cannot hold an ID
   */
  @Override
  public void initialize(SnowlaneId annotation, Member member, GeneratorCreationContext context) {
    Class<?> type = typeOf(member);
    if (type == long.class || type == Long.class) return;
    String place = member.getDeclaringClass().getName() + "." + member.getName();
    throw new MappingException("@SnowlaneId is on " + place + ", a " + type.getSimpleName() + ": make it a Long.");
  }

  @Override
  public Object generate(SharedSessionContractImplementor session, Object owner, Object value, EventType event) {
    return session.getFactory().getServiceRegistry().requireService(SnowlaneIds.class).nextId();
  }

  @Override
  public EnumSet<EventType> getEventTypes() {
    return EventTypeSets.INSERT_ONLY;
  }

  private static Class<?> typeOf(Member member) {
    return member instanceof Method getter ? getter.getReturnType() : ((Field) member).getType();
  }
}
