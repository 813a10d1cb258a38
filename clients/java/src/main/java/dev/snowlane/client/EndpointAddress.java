package dev.snowlane.client;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.regex.Pattern;

/**
 * One endpoint as the options name it, read.
 *
 * @param url as it was given
 * @param host an IPv6 address stands in brackets
 */
record EndpointAddress(String url, String host, int port, boolean isTls) {

  private static final int PORT_MAX = 65_535;
  private static final Pattern IP_LITERAL = Pattern.compile("\\[.*]|\\d+\\.\\d+\\.\\d+\\.\\d+");

  /**
   * @throws IllegalArgumentException unless it is {@code http://HOST:PORT} or {@code https://HOST:PORT}
   */
  static EndpointAddress read(String url) {
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException malformed) {
      // Not in the message: it may hold a password.
      throw new IllegalArgumentException("An endpoint is no URL.");
    }
    boolean isTls = "https".equals(uri.getScheme());
    if (uri.getUserInfo() != null) throw new IllegalArgumentException("An endpoint holds a user name.");
    if ((!isTls && !"http".equals(uri.getScheme())) || uri.getHost() == null) {
      throw new IllegalArgumentException(
          "The endpoint \"" + url + "\" is not http://HOST:PORT or https://HOST:PORT.");
    }
    boolean isBare = uri.getRawPath().isEmpty() || uri.getRawPath().equals("/");
    if (!isBare || uri.getRawQuery() != null || uri.getRawFragment() != null || uri.getPort() > PORT_MAX) {
      throw new IllegalArgumentException("The endpoint \"" + url + "\" is more than scheme, host and port.");
    }
    int port = uri.getPort() >= 0 ? uri.getPort() : isTls ? 443 : 80;
    return new EndpointAddress(url, uri.getHost(), port, isTls);
  }

  /** Whether it names this machine. Asks no name server. */
  boolean isLoopback() {
    if (host.equals("localhost")) return true;
    try {
      return IP_LITERAL.matcher(host).matches() && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException noAddress) {
      return false;
    }
  }
}
