package dev.snowlane.hibernate;

import dev.snowlane.client.IdClient;
import dev.snowlane.client.IdClientBuilder;
import dev.snowlane.client.PrefetchBuffer;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Map;
import org.hibernate.HibernateException;
import org.hibernate.service.Service;
import org.hibernate.service.spi.Stoppable;

/**
 * Where all entities of a session factory take their IDs: one buffer. It is the one of the setting {@link #BUFFER}, or
 * belongs to a client of its own, which is made at the first ID and closed with the session factory.
 */
public final class SnowlaneIds implements Service, Stoppable {

  /** A {@link PrefetchBuffer} that the program has made and closes. Without it, the settings below make a client. */
  public static final String BUFFER = "snowlane.buffer";

  /** The endpoints of the client, separated by commas. Default: that of the client. */
  public static final String ENDPOINTS = "snowlane.endpoints";

  /** The bearer token of the client. Default: none. */
  public static final String TOKEN = "snowlane.token";

  /** The deadline of a call and of a wait for an ID, as {@code PT5S}. Default: that of the client, 5 s. */
  public static final String TIMEOUT = "snowlane.timeout";

  private static final long serialVersionUID = 1L;

  private final transient PrefetchBuffer ids;
  private final transient AutoCloseable owned;

  SnowlaneIds(Map<String, Object> settings) {
    if (settings.get(BUFFER) instanceof PrefetchBuffer given) {
      ids = given;
      owned = () -> {};
    } else {
      IdClient client = clientOf(settings);
      ids = client.prefetch();
      owned = client;
    }
  }

  long nextId() {
    return ids.nextId();
  }

  @Override
  public void stop() {
    try {
      owned.close();
    } catch (Exception impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static IdClient clientOf(Map<String, Object> settings) {
    if (settings.get(BUFFER) != null) {
      String type = settings.get(BUFFER).getClass().getName();
      throw new HibernateException(BUFFER + " is a " + type + ": give a PrefetchBuffer.");
    }
    IdClientBuilder builder = IdClient.builder();
    if (settings.get(ENDPOINTS) instanceof String list) builder.endpoints(list.trim().split("\\s*,\\s*"));
    if (settings.get(TOKEN) instanceof String token) builder.token(token);
    if (settings.get(TIMEOUT) instanceof String timeout) builder.timeout(durationOf(timeout));
    return builder.build();
  }

  private static Duration durationOf(String text) {
    try {
      return Duration.parse(text);
    } catch (DateTimeParseException malformed) {
      throw new HibernateException(TIMEOUT + " is \"" + text + "\": write it as PT5S, which is 5 s.");
    }
  }
}
