package dev.snowlane.client;

import dev.snowlane.v1.BatchNextValuesRequest;
import dev.snowlane.v1.BatchNextValuesResponse;
import dev.snowlane.v1.SequenceServiceGrpc;
import dev.snowlane.v1.SequenceServiceGrpc.SequenceServiceBlockingStub;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** A stream of values. Values of several databases do not rise, so the order is not checked. */
final class RpcValueStream
    extends RpcStream<SequenceServiceBlockingStub, BatchNextValuesResponse, List<SequenceValue>>
    implements ValueStream {

  private final String name;
  private final int chunkSize;

  RpcValueStream(Calls calls, String name, StreamOptions options, long count) {
    super(calls, SequenceServiceGrpc::newBlockingStub, "BatchNextValues", options, count);
    this.name = name;
    this.chunkSize = options.chunkSize();
  }

  @Override
  String items() {
    return "values";
  }

  @Override
  Iterator<BatchNextValuesResponse> open(SequenceServiceBlockingStub stub, long left) {
    return stub.batchNextValues(
        BatchNextValuesRequest.newBuilder().setName(name).setCount(left).setChunkSize(chunkSize).build());
  }

  @Override
  void admit(Calls.Admission admission, BatchNextValuesResponse response) {
    admission.database(response.getDatabase());
  }

  @Override
  ChunkReader<BatchNextValuesResponse, List<SequenceValue>> reader() {
    return RpcValueStream::valuesOf;
  }

  @Override
  int sizeOf(List<SequenceValue> values) {
    return values.size();
  }

  private static List<SequenceValue> valuesOf(BatchNextValuesResponse response) {
    int count = response.getValuesCount();
    int textCount = response.getTextsCount();
    if (textCount != 0 && textCount != count) {
      throw invalid("The server sent an impossible chunk.", "text_count", textCount);
    }
    List<SequenceValue> values = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      String text = textCount == 0 ? "" : response.getTexts(i);
      values.add(RpcSequence.sound(new SequenceValue(response.getValues(i), text, response.getPeriodKey())));
    }
    return values;
  }
}
