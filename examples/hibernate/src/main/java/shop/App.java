package shop;

import java.net.URI;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.hibernate.cfg.Configuration;

/** Saves one order, then prints each order with the time in its ID. */
public class App {
  public static void main(String[] arguments) {
    URI url = URI.create(System.getenv("DATABASE_URL"));
    String jdbc = "jdbc:postgresql://" + url.getHost() + ":" + url.getPort() + url.getPath();
    var configuration =
        new Configuration()
            .addAnnotatedClass(Order.class)
            .setProperty("hibernate.connection.url", jdbc)
            .setProperty("hibernate.connection.username", url.getUserInfo())
            .setProperty("hibernate.hbm2ddl.auto", "update");
    var time = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSSX").withZone(ZoneOffset.UTC);
    try (var sessions = configuration.buildSessionFactory()) {
      sessions.inTransaction(session -> session.persist(new Order("tea")));
      sessions.inTransaction(
          session -> {
            for (Order order : session.createSelectionQuery("from Order order by id", Order.class).list())
              System.out.println(
                  order.id + " " + time.format(SnowlaneIdGenerator.CLIENT.parse(order.id).createTime()));
          });
    }
    SnowlaneIdGenerator.CLIENT.close();
  }
}
