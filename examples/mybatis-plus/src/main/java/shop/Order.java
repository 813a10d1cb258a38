package shop;

import com.baomidou.mybatisplus.annotation.TableName;

/** An order, whose time is in its ID: MyBatis-Plus gives keys called {@code id} one of its IdentifierGenerator. */
@TableName("orders_mybatis_plus")
public class Order {
  public Long id;
  public String article;

  public Order() {}

  Order(String article) {
    this.article = article;
  }
}
