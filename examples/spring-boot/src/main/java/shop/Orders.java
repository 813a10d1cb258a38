package shop;

import java.util.List;
import org.springframework.data.jpa.repository.JpaRepository;

/** The saved orders. */
public interface Orders extends JpaRepository<Order, Long> {
  List<Order> findTop2ByOrderByIdDesc();
}
