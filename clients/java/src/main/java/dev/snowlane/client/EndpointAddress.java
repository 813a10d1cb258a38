package dev.snowlane.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One endpoint as the options name it, read.
 *
 * @param url as it was given
 * @param host an IPv6 address has brackets; empty for a Unix socket
 * @param ip the address of the host to call; empty: gRPC looks it up
 */
record EndpointAddress(String url, String host, int port, boolean isTls, Optional<InetAddress> ip) {

  private static final String UNIX = "unix:";
  /** The room for a path in Linux' sockaddr_un, without its last byte. */
  private static final int SOCKET_PATH_MAX = 107;
  private static final int PORT_MAX = 65_535;
  private static final Pattern IP_LITERAL = Pattern.compile("\\[.*]|\\d+\\.\\d+\\.\\d+\\.\\d+");

  /**
   * @throws IllegalArgumentException unless it is {@code http://HOST:PORT}, {@code https://HOST:PORT} or {@code
   *     unix:/PATH}
   */
  static EndpointAddress read(String url) {
    if (url.startsWith(UNIX) && url.startsWith("/", UNIX.length())) {
      if (url.getBytes(UTF_8).length <= UNIX.length() + SOCKET_PATH_MAX) {
        return new EndpointAddress(url, "", 0, false, Optional.empty());
      }
      throw new IllegalArgumentException("The path of the endpoint \"" + url + "\" has more than 107 bytes.");
    }
    // The part before an @ may be a password.
    String shown = "The endpoint \"" + url.substring(url.lastIndexOf('@') + 1) + "\"";
    URI uri;
    try {
      uri = new URI(url);
    } catch (URISyntaxException malformed) {
      throw new IllegalArgumentException(shown + " is not http://HOST:PORT, https://HOST:PORT or unix:/PATH.");
    }
    boolean isTls = "https".equalsIgnoreCase(uri.getScheme());
    boolean isOurs = isTls || "http".equalsIgnoreCase(uri.getScheme());
    if (!isOurs || uri.getHost() == null || uri.getPort() == 0 || uri.getPort() > PORT_MAX) {
      throw new IllegalArgumentException(shown + " is not http://HOST:PORT, https://HOST:PORT or unix:/PATH.");
    }
    boolean isBare = uri.getRawPath().isEmpty() || uri.getRawPath().equals("/");
    if (!isBare || uri.getRawQuery() != null || uri.getRawFragment() != null || uri.getRawUserInfo() != null) {
      throw new IllegalArgumentException(shown + " is more than scheme, host and port.");
    }
    int port = uri.getPort() >= 0 ? uri.getPort() : isTls ? 443 : 80;
    return new EndpointAddress(url, uri.getHost(), port, isTls, Optional.empty());
  }

  /** The same, called by one of the addresses that its host has. */
  EndpointAddress at(InetAddress address) {
    String shown = url + " [" + address.getHostAddress() + "]";
    return new EndpointAddress(shown, host, port, isTls, Optional.of(address));
  }

  /**
   * The target in the form that gRPC takes. It includes the scheme, because a host may have the name of one of gRPC's
   * own schemes.
   */
  String target() {
    if (isSocket()) return url;
    // The brackets of an IPv6 address have no place in the path of a URI.
    return "dns:///" + called().replace("[", "%5B").replace("]", "%5D") + ":" + port;
  }

  private String called() {
    if (ip.isEmpty()) return host;
    String address = ip.get().getHostAddress();
    return address.contains(":") ? "[" + address + "]" : address;
  }

  /**
   * The authority: the name by which servers and their certificates are checked. Empty: the one that gRPC derives from
   * the target.
   */
  Optional<String> authority() {
    // For a socket, gRPC would send the path as the name of the host.
    if (isSocket()) return Optional.of("localhost");
    return ip.map(address -> host + ":" + port);
  }

  /** Whether it is the name of a host, which may have several addresses. */
  boolean isName() {
    return !isSocket() && ip.isEmpty() && !IP_LITERAL.matcher(host).matches();
  }

  /** Whether it is a Unix socket. */
  boolean isSocket() {
    return host.isEmpty();
  }

  /** Whether it names this machine. Asks no name server. */
  boolean isLoopback() {
    if (isSocket() || host.equals("localhost")) return true;
    try {
      return IP_LITERAL.matcher(host).matches() && InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException noAddress) {
      return false;
    }
  }
}
