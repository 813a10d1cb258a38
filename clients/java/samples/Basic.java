import dev.snowlane.client.IdClient;
import dev.snowlane.client.ParsedId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

class Basic {
  public static void main(String[] arguments) {
    String url = System.getenv().getOrDefault("SNOWLANE_URL", "http://127.0.0.1:7609");
    DateTimeFormatter time = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX").withZone(ZoneOffset.UTC);
    try (IdClient client = IdClient.builder().endpoints(url).build()) {
      long id = client.nextId();
      ParsedId parsed = client.parse(id);
      System.out.println("id " + id);
      System.out.println("created " + time.format(parsed.createTime()));
      System.out.println("worker " + parsed.workerId().getAsLong());
    }
  }
}
