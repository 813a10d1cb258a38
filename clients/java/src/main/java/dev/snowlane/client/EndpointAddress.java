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
    // The part before an @ may be a password.
    String shown = "The endpoint \"" + url.substring(url.lastIndexOf('@') + 1) + "\"";
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException malformed) {
      throw new IllegalArgumentException(shown + " is not http://HOST:PORT or https://HOST:PORT.");
    }
    boolean isTls = "https".equalsIgnoreCase(uri.getScheme());
    boolean isOurs = isTls || "http".equalsIgnoreCase(uri.getScheme());
    if (!isOurs || uri.getHost() == null || uri.getPort() == 0 || uri.getPort() > PORT_MAX) {
      throw new IllegalArgumentException(shown + " is not http://HOST:PORT or https://HOST:PORT.");
    }
    boolean isBare = uri.getRawPath().isEmpty() || uri.getRawPath().equals("/");
    if (!isBare || uri.getRawQuery() != null || uri.getRawFragment() != null || uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException(shown + " is more than scheme, host and port.");
    }
    int port = uri.getPort() >= 0 ? uri.getPort() : isTls ? 443 : 80;
    return new EndpointAddress(url, uri.getHost(), port, isTls);
  }

  /** As gRPC takes it. With its scheme: a host may be called as one of gRPC's own. */
  String target() {
    // The brackets of an IPv6 address have no place in the path of a URI.
    return "dns:///" + host.replace("[", "%5B").replace("]", "%5D") + ":" + port;
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
