import dev.snowlane.client.IdClient;
import dev.snowlane.client.SequenceValue;
import java.util.List;

class Sequence {
  public static void main(String[] arguments) {
    String url = System.getenv().getOrDefault("SNOWLANE_URL", "http://127.0.0.1:7609");
    try (IdClient client = IdClient.builder().endpoints(url).build()) {
      var orders = client.sequence("orders");
      System.out.println("value " + orders.nextValue().value());

      List<SequenceValue> values = orders.nextValues(1_000);
      long first = values.get(0).value();
      long last = values.get(values.size() - 1).value();
      System.out.println("values " + values.size() + " " + first + " " + last);
      System.out.println("text " + client.sequence("invoices").nextText());
    }
  }
}
