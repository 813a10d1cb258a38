package dev.snowlane.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Stands before a server, so that its connections can be cut as a crash cuts them: a server in the same process would
 * end its calls first.
 */
final class TcpRelay {

  private final int targetPort;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  /** Connections that were taken so far. */
  final AtomicInteger accepted = new AtomicInteger();

  /** Those that let nothing through. */
  private final Set<Socket> dark = ConcurrentHashMap.newKeySet();

  private volatile ServerSocket listener;
  private volatile int port;

  TcpRelay(int targetPort) {
    this.targetPort = targetPort;
    listen();
  }

  int port() {
    return port;
  }

  /**
   * Listens: on a free port the first time, on the same one after a cut. It lies below those that systems give to
   * outgoing connections: one of them, even of a caller that calls it, might take it in between.
   */
  void listen() {
    long deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
    while (true) {
      int wanted = port == 0 ? ThreadLocalRandom.current().nextInt(10_000, 32_000) : port;
      try {
        ServerSocket opened = new ServerSocket();
        opened.setReuseAddress(true);
        opened.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), wanted));
        port = wanted;
        listener = opened;
        start(() -> accept(opened));
        return;
      } catch (IOException taken) {
        if (System.nanoTime() > deadlineNanos) throw new UncheckedIOException(taken);
        Thread.yield();
      }
    }
  }

  /** Cuts every connection, and refuses others. */
  void cut() {
    close(listener);
    sockets.forEach(TcpRelay::close);
  }

  /** Lets nothing more through over the open connections; new ones work. */
  void swallow() {
    dark.addAll(sockets);
  }

  private void accept(ServerSocket accepting) {
    try {
      while (true) {
        Socket client = accepting.accept();
        accepted.incrementAndGet();
        Socket server = new Socket(InetAddress.getLoopbackAddress(), targetPort);
        sockets.add(client);
        sockets.add(server);
        start(() -> pump(client, server));
        start(() -> pump(server, client));
        if (!accepting.isClosed()) continue;
        // The link was cut between accepting and adding, so nothing else closes these two.
        close(client);
        close(server);
      }
    } catch (IOException closed) {
      // It was cut.
    }
  }

  private void pump(Socket from, Socket to) {
    try (from;
        to) {
      InputStream input = from.getInputStream();
      OutputStream output = to.getOutputStream();
      byte[] bytes = new byte[32_768];
      for (int count = input.read(bytes); count >= 0; count = input.read(bytes)) {
        if (!dark.contains(from)) output.write(bytes, 0, count);
      }
    } catch (IOException closed) {
      // It was cut, or an end has closed.
    }
    sockets.remove(from);
    sockets.remove(to);
  }

  private static void start(Runnable work) {
    Thread thread = new Thread(work, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  private static void close(AutoCloseable socket) {
    try {
      socket.close();
    } catch (Exception closed) {
      // It is closed.
    }
  }
}
