import dev.snowlane.client.IdClient;
import dev.snowlane.client.IdStream;

class Batch {
  public static void main(String[] arguments) {
    String url = System.getenv().getOrDefault("SNOWLANE_URL", "http://127.0.0.1:7609");
    try (IdClient client = IdClient.builder().endpoints(url).build()) {
      long[] batch = client.nextIds(10_000);
      System.out.println("batch " + batch.length + " " + batch[0] + " " + batch[batch.length - 1]);

      long[] streamed = new long[100_000];
      int count = 0;
      try (IdStream stream = client.stream(streamed.length)) {
        for (long[] ids : stream) {
          System.arraycopy(ids, 0, streamed, count, ids.length);
          count += ids.length;
        }
      }
      System.out.println("stream " + count + " " + streamed[0] + " " + streamed[count - 1]);
    }
  }
}
