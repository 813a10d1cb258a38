package dev.snowlane.jackson;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class IdAsStringTest {

  record Order(@IdAsString long id, long quantity, @IdAsString Long parent, @IdsAsStrings List<Long> lines) {}

  record Ways(@IdsAsStrings Long[] array, @IdsAsStrings Map<String, Long> byName) {}

  record OrderId(@JsonValue @IdAsString long value) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    OrderId {}
  }

  record Typed(OrderId id, List<OrderId> lines, Map<String, OrderId> byName) {}

  /** Both lines of Jackson, with their defaults. */
  enum Jackson {
    TWO {
      @Override
      String write(Object value) throws Exception {
        return new ObjectMapper().writeValueAsString(value);
      }

      @Override
      <T> T read(String json, Class<T> type) throws Exception {
        return new ObjectMapper().readValue(json, type);
      }
    },
    THREE {
      @Override
      String write(Object value) {
        return new JsonMapper().writeValueAsString(value);
      }

      @Override
      <T> T read(String json, Class<T> type) {
        return new JsonMapper().readValue(json, type);
      }
    };

    abstract String write(Object value) throws Exception;

    abstract <T> T read(String json, Class<T> type) throws Exception;
  }

  private static final long ID = 2126432293437465084L;

  @ParameterizedTest
  @EnumSource
  void whatIsAnnotatedIsAStringAndAllElseStaysANumber(Jackson jackson) throws Exception {
    Order order = new Order(ID, 3, null, List.of(ID + 1));
    String json = jackson.write(order);
    assertTrue(json.contains("\"id\":\"2126432293437465084\""), json);
    assertTrue(json.contains("\"quantity\":3"), json);
    assertTrue(json.contains("\"parent\":null"), json);
    assertTrue(json.contains("\"lines\":[\"2126432293437465085\"]"), json);
    assertEquals(order, jackson.read(json, Order.class));
  }

  @ParameterizedTest
  @EnumSource
  void arraysAndMapsOfIdsComeBackAsTheyWere(Jackson jackson) throws Exception {
    String json = jackson.write(new Ways(new Long[] {ID}, Map.of("a", ID)));
    assertTrue(json.contains("[\"2126432293437465084\"]"), json);
    assertTrue(json.contains("{\"a\":\"2126432293437465084\"}"), json);
    Ways read = jackson.read(json, Ways.class);
    assertEquals(ID, read.array()[0]);
    assertEquals(Map.of("a", ID), read.byName());
  }

  @ParameterizedTest
  @EnumSource
  void aTypeOfItsOwnIsAStringWhereverItIsUsed(Jackson jackson) throws Exception {
    OrderId id = new OrderId(ID);
    Typed typed = new Typed(id, List.of(id), Map.of("a", id));
    String json = jackson.write(typed);
    assertTrue(json.contains("\"id\":\"2126432293437465084\""), json);
    assertTrue(json.contains("[\"2126432293437465084\"]"), json);
    assertTrue(json.contains("{\"a\":\"2126432293437465084\"}"), json);
    assertEquals(typed, jackson.read(json, Typed.class));
    assertEquals(id, jackson.read("2126432293437465084", OrderId.class));
    assertThrows(Exception.class, () -> jackson.read("2.126E18", OrderId.class));
  }

  @ParameterizedTest
  @EnumSource
  void anIntegerIsReadToo(Jackson jackson) throws Exception {
    assertEquals(ID, jackson.read("{\"id\":2126432293437465084,\"quantity\":3}", Order.class).id());
  }

  @ParameterizedTest
  @EnumSource
  void noIdIsNull(Jackson jackson) throws Exception {
    assertNull(jackson.read("{\"id\":\"1\",\"quantity\":3,\"parent\":null}", Order.class).parent());
  }

  @ParameterizedTest
  @ValueSource(strings = {"1.5", "2.126E18", "\"\"", "\"2.1E18\"", "\"-1\"", "\"9223372036854775808\"", "true", "[]"})
  void whatIsNoIdIsRefused(String json) {
    for (Jackson jackson : Jackson.values()) {
      String order = "{\"id\":" + json + ",\"quantity\":3}";
      assertThrows(Exception.class, () -> jackson.read(order, Order.class), jackson + " took " + json);
    }
  }
}
