package dev.snowlane.hibernate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.snowlane.client.ErrorReason;
import dev.snowlane.client.SnowlaneException;
import dev.snowlane.client.testing.FakeIdClient;
import dev.snowlane.client.testing.Step;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import java.util.HashSet;
import java.util.Set;
import org.hibernate.MappingException;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.junit.jupiter.api.Test;

/** No test here sends SQL: an ID is given when an entity is made persistent, before its insert. */
class SnowlaneIdTest {

  @Entity
  static class Order {
    @Id @SnowlaneId Long id;
  }

  @Entity
  static class Invoice {
    private long number;

    @Id
    @SnowlaneId
    long getNumber() {
      return number;
    }

    void setNumber(long value) {
      number = value;
    }
  }

  @Entity
  static class Letter {
    @Id @SnowlaneId String id;
  }

  private static Configuration configurationOf(Class<?>... entities) {
    Configuration configuration =
        new Configuration()
            .setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect")
            .setProperty("hibernate.boot.allow_jdbc_metadata_access", "false");
    for (Class<?> entity : entities) configuration.addAnnotatedClass(entity);
    return configuration;
  }

  private static Configuration configurationWith(Object buffer, Class<?>... entities) {
    Configuration configuration = configurationOf(entities);
    configuration.getProperties().put(SnowlaneIds.BUFFER, buffer);
    return configuration;
  }

  @Test
  void entitiesOfAllKindsTakeTheirIdsFromOneBuffer() {
    try (FakeIdClient client = new FakeIdClient(Step.run(100, 1_000, 1));
        SessionFactory sessions =
            configurationWith(client.prefetch(), Order.class, Invoice.class).buildSessionFactory();
        var session = sessions.openSession()) {
      Set<Long> ids = new HashSet<>();
      for (int i = 0; i < 20; i++) {
        Order order = new Order();
        Invoice invoice = new Invoice();
        session.persist(order);
        session.persist(invoice);
        ids.add(order.id);
        ids.add(invoice.getNumber());
      }
      assertEquals(40, ids.size());
      assertTrue(ids.stream().allMatch(id -> id >= 100 && id < 1_100), ids::toString);
    }
  }

  @Test
  void aBufferOfTheProgramIsNotClosedWithTheSessionFactory() {
    try (FakeIdClient client = new FakeIdClient(Step.run(1, 100, 1))) {
      var buffer = client.prefetch();
      SessionFactory sessions = configurationWith(buffer, Order.class).buildSessionFactory();
      try (var session = sessions.openSession()) {
        session.persist(new Order());
      }
      sessions.close();
      assertTrue(buffer.nextId() > 0);
    }
  }

  @Test
  void anErrorOfTheServersReachesTheProgramWithItsReason() {
    try (FakeIdClient client = new FakeIdClient(Step.fail(ErrorReason.METHOD_DENIED));
        SessionFactory sessions = configurationWith(client.prefetch(), Order.class).buildSessionFactory();
        var session = sessions.openSession()) {
      Throwable error = assertThrows(RuntimeException.class, () -> session.persist(new Order()));
      while (!(error instanceof SnowlaneException) && error.getCause() != null) error = error.getCause();
      assertEquals(ErrorReason.METHOD_DENIED, ((SnowlaneException) error).reason());
    }
  }

  @Test
  void aMemberThatCannotHoldAnIdIsRefusedWhenTheFactoryIsBuilt() {
    Configuration configuration = configurationOf(Letter.class);
    Throwable error = assertThrows(RuntimeException.class, configuration::buildSessionFactory);
    while (!(error instanceof MappingException) && error.getCause() != null) error = error.getCause();
    String place = Letter.class.getName() + ".id";
    assertEquals("@SnowlaneId is on " + place + ", a String: make it a Long.", error.getMessage());
  }

  @Test
  void wrongSettingsAreRefusedInWordsAtTheFirstId() {
    Configuration wrong = configurationOf(Order.class).setProperty(SnowlaneIds.TIMEOUT, "5s");
    assertFirstIdFails(wrong, "snowlane.timeout is \"5s\": write it as PT5S, which is 5 s.");
    Configuration other = configurationWith("http://127.0.0.1:7609", Order.class);
    assertFirstIdFails(other, "snowlane.buffer is a java.lang.String: give a PrefetchBuffer.");
  }

  private static void assertFirstIdFails(Configuration configuration, String message) {
    try (SessionFactory sessions = configuration.buildSessionFactory();
        var session = sessions.openSession()) {
      Throwable error = assertThrows(RuntimeException.class, () -> session.persist(new Order()));
      assertTrue(error.getMessage().endsWith(message), error::getMessage);
    }
  }
}
