package shop;

import dev.snowlane.client.Layout;
import dev.snowlane.hibernate.SnowlaneIds;
import java.util.Collections;
import java.util.List;
import org.hibernate.cfg.Configuration;

/** Saves one order, or COUNT, then prints the newest two with the time in their IDs. */
public class App {
  public static void main(String[] arguments) {
    int count = arguments.length == 0 ? 1 : Integer.parseInt(arguments[0]);
    var configuration =
        new Configuration()
            .addAnnotatedClass(Order.class)
            .setProperty("hibernate.connection.url", System.getenv("JDBC_URL"))
            .setProperty(SnowlaneIds.ENDPOINTS, System.getenv("SNOWLANE_URL"));
    try (var sessions = configuration.buildSessionFactory()) {
      for (int saved = 0; saved < count; saved += 1_000) {
        int batch = Math.min(1_000, count - saved);
        sessions.inTransaction(
            session -> {
              for (int i = 0; i < batch; i++) session.persist(new Order("tea"));
            });
      }
      String newest = "from Order order by id desc";
      List<Order> orders =
          sessions.fromTransaction(
              session -> session.createSelectionQuery(newest, Order.class).setMaxResults(2).list());
      Collections.reverse(orders);
      for (Order order : orders)
        System.out.println(order.id + " " + Layout.preset("twitter").parse(order.id).createTime());
    }
  }
}
