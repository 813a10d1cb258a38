package shop;

import dev.snowlane.hibernate.SnowlaneId;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** An order, whose time is in its ID. */
@Entity
@Table(name = "orders_spring_boot")
public class Order {
  @Id @SnowlaneId Long id;
  String article;

  protected Order() {}

  Order(String article) {
    this.article = article;
  }
}
