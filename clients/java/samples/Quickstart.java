import dev.snowlane.client.IdClient;

public class Quickstart {
  public static void main(String[] arguments) {
    try (var client = IdClient.builder().build()) {
      var ids = client.prefetch();
      long id = ids.nextId();
      System.out.println(id);
    }
  }
}
