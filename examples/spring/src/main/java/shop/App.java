package shop;

import dev.snowlane.client.IdClient;
import jakarta.persistence.EntityManagerFactory;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.hibernate.SessionFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Saves one order, then prints each order with the time in its ID. */
public class App {
  public static void main(String[] arguments) {
    var time = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX").withZone(ZoneOffset.UTC);
    try (var context = new AnnotationConfigApplicationContext(ShopConfiguration.class)) {
      var client = context.getBean(IdClient.class);
      var sessions = context.getBean(EntityManagerFactory.class).unwrap(SessionFactory.class);
      sessions.inTransaction(session -> session.persist(new Order("tea")));
      sessions.inTransaction(
          session -> {
            for (Order order : session.createSelectionQuery("from Order order by id", Order.class).list())
              System.out.println(order.id + " " + time.format(client.parse(order.id).createTime()));
          });
    }
  }
}
