package dev.snowlane.spring.boot;

import dev.snowlane.client.PrefetchOptions;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.io.Resource;

/**
 * The properties {@code snowlane.*}: the options of the client and of its shared buffer.
 *
 * @param endpoints one or more of http://HOST:PORT, https://HOST:PORT and unix:/PATH, which serve one deployment
 * @param token the bearer token; a customizer can give one for each attempt
 * @param insecureToken allows the token to be sent over plaintext to hosts that are not loopback
 * @param timeout the deadline of a call; it covers all attempts and waits
 * @param attemptTimeout the longest that one attempt may take
 * @param retryMax the most attempts after the first, 0 to 3
 * @param deployments the fingerprints of the deployments whose IDs may be used; empty: the first that answers
 * @param namespace the namespace that marks the deployment's UUIDs
 * @param tls the roots to trust, and the client's own certificate
 * @param buffer the shared buffer
 */
@ConfigurationProperties("snowlane")
public record SnowlaneProperties(
    @DefaultValue("http://127.0.0.1:7609") List<String> endpoints,
    String token,
    @DefaultValue("false") boolean insecureToken,
    @DefaultValue("5s") Duration timeout,
    @DefaultValue("2s") Duration attemptTimeout,
    @DefaultValue("3") int retryMax,
    @DefaultValue List<String> deployments,
    @DefaultValue("default") String namespace,
    @DefaultValue Tls tls,
    @DefaultValue Buffer buffer) {

  /**
   * PEM files. They are read for each new connection, so certificates may change.
   *
   * @param roots the root certificates to trust; without it, the system's
   * @param certificate the client's own, with its chain, for mutual TLS
   * @param key the certificate's private key, in PKCS 8
   */
  public record Tls(Resource roots, Resource certificate, Resource key) {}

  /**
   * How the shared buffer works.
   *
   * @param maxAge the maximum age of an ID's reservation when the ID is handed out: by default 5s, with an outage twice
   *     that and at least the outage plus 30s
   * @param countMin the fewest IDs of one reservation
   * @param countMax the most IDs of one reservation
   * @param timeout how long a caller waits when the buffer is dry; by default snowlane.timeout
   * @param outage keeps a reserve of IDs that lasts this long without any server, 1s to 30m; by default none
   * @param stockMax the most IDs that the reserve aims at
   */
  public record Buffer(
      Duration maxAge,
      @DefaultValue("8") int countMin,
      @DefaultValue("65536") int countMax,
      Duration timeout,
      Duration outage,
      @DefaultValue("10000000") long stockMax) {

    PrefetchOptions options() {
      PrefetchOptions options = PrefetchOptions.DEFAULTS.withCounts(countMin, countMax).withStockMax(stockMax);
      if (outage != null) options = options.withOutage(outage);
      if (maxAge != null) options = options.withMaxAge(maxAge);
      return timeout == null ? options : options.withTimeout(timeout);
    }
  }

  /** Never shows the token. */
  @Override
  public String toString() {
    return "SnowlaneProperties[endpoints=" + endpoints + ", timeout=" + timeout + "]";
  }
}
