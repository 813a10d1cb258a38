package shop;

import com.baomidou.mybatisplus.core.mapper.BaseMapper;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Update;

/** The saved orders. */
@Mapper
public interface Orders extends BaseMapper<Order> {
  @Update("CREATE TABLE IF NOT EXISTS orders_mybatis_plus (id bigint PRIMARY KEY, article text NOT NULL)")
  void createTable();
}
