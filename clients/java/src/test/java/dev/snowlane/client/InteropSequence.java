package dev.snowlane.client;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The command {@code sequence} of the interop program: docs/internals/client-contract.md has its steps. */
final class InteropSequence {

  private InteropSequence() {}

  static Object run(Map<String, String> keys) {
    List<Object> results = new ArrayList<>();
    try (IdClient client = IdClient.builder().endpoints(keys.get("endpoints").split(",")).build()) {
      for (String step : keys.get("steps").split(",")) results.add(resultOf(client, step.split(":")));
    }
    return Map.of("results", results);
  }

  private static Object resultOf(IdClient client, String[] step) {
    int count = step.length > 2 ? Integer.parseInt(step[2]) : 1;
    try {
      return operate(step[0], client.sequence(step[1]), count);
    } catch (SnowlaneException error) {
      return Map.of("reason", error.reason(), "code", error.code(), "metadata", error.metadata());
    }
  }

  private static Object operate(String operation, Sequence sequence, int count) {
    return switch (operation) {
      case "value" -> shown(List.of(sequence.nextValue()));
      case "late" -> shown(List.of(sequence.nextValue(Duration.ofMillis(200))));
      case "text" -> Map.of("text", sequence.nextText());
      case "values" -> shown(sequence.nextValues(count));
      case "stream" -> {
        List<SequenceValue> all = new ArrayList<>();
        try (ValueStream stream = open(sequence, count, 64)) {
          for (List<SequenceValue> values : stream) all.addAll(values);
        }
        yield shown(all);
      }
      case "leave", "large" -> {
        try (ValueStream stream = open(sequence, count, operation.equals("large") ? 65_536 : 64)) {
          yield Map.of("taken", stream.next().size());
        }
      }
      case "reserve" -> {
        ReservedValues reserved = sequence.reserve(count);
        List<List<String>> runs =
            reserved.runs().stream()
                .map(run -> List.of("" + run.firstValue(), "" + run.count(), "" + run.increment()))
                .toList();
        yield Map.of("runs", runs, "periodKey", reserved.periodKey());
      }
      default -> throw new IllegalArgumentException("There is no operation " + operation + ".");
    };
  }

  private static ValueStream open(Sequence sequence, int count, int chunkSize) {
    return sequence.stream(count, StreamOptions.DEFAULTS.withChunkSize(chunkSize));
  }

  private static Object shown(List<SequenceValue> values) {
    return Map.of(
        "values", values.stream().map(value -> "" + value.value()).toList(),
        "texts", values.stream().map(SequenceValue::text).toList(),
        "periodKeys", values.stream().map(SequenceValue::periodKey).toList());
  }
}
