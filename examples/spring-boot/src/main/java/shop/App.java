package shop;

import dev.snowlane.client.IdClient;
import java.util.Collections;
import java.util.stream.IntStream;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** Saves one order, or COUNT, then prints the newest two with the time in their IDs. */
@SpringBootApplication
public class App {
  public static void main(String[] arguments) {
    SpringApplication.run(App.class, arguments);
  }

  @Bean
  CommandLineRunner shop(Orders orders, IdClient client) {
    return arguments -> {
      int count = arguments.length == 0 ? 1 : Integer.parseInt(arguments[0]);
      for (int saved = 0; saved < count; saved += 1_000) {
        int batch = Math.min(1_000, count - saved);
        orders.saveAll(IntStream.range(0, batch).mapToObj(i -> new Order("tea")).toList());
      }
      var newest = orders.findTop2ByOrderByIdDesc();
      Collections.reverse(newest);
      for (Order order : newest) System.out.println(order.id + " " + client.parse(order.id).createTime());
    };
  }
}
