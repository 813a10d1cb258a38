import dev.snowlane.client.IdClient;
import dev.snowlane.client.PrefetchBuffer;

class Prefetch {
  public static void main(String[] arguments) {
    String url = System.getenv().getOrDefault("SNOWLANE_URL", "http://127.0.0.1:7609");
    try (IdClient client = IdClient.builder().endpoints(url).build()) {
      PrefetchBuffer buffer = client.prefetch();
      long[] ids = new long[100_000];
      for (int i = 0; i < ids.length; i++) ids[i] = buffer.nextId();
      System.out.println("prefetch " + ids.length + " " + ids[0] + " " + ids[ids.length - 1]);
      System.out.println("handed out " + buffer.stats().handedOut());
    }
  }
}
