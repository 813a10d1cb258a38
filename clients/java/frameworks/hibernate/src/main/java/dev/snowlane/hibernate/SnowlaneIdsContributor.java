package dev.snowlane.hibernate;

import java.util.Map;
import org.hibernate.boot.registry.StandardServiceInitiator;
import org.hibernate.boot.registry.StandardServiceRegistryBuilder;
import org.hibernate.service.spi.ServiceContributor;
import org.hibernate.service.spi.ServiceRegistryImplementor;

/** Adds {@link SnowlaneIds} to each session factory. Found by Hibernate in META-INF/services. */
public final class SnowlaneIdsContributor implements ServiceContributor, StandardServiceInitiator<SnowlaneIds> {

  @Override
  public void contribute(StandardServiceRegistryBuilder builder) {
    builder.addInitiator(this);
  }

  @Override
  public Class<SnowlaneIds> getServiceInitiated() {
    return SnowlaneIds.class;
  }

  @Override
  public SnowlaneIds initiateService(Map<String, Object> settings, ServiceRegistryImplementor registry) {
    return new SnowlaneIds(settings);
  }
}
