package dev.snowlane.client;

import dev.snowlane.v1.BatchNextIdsRequest;
import dev.snowlane.v1.BatchNextIdsResponse;
import dev.snowlane.v1.IdServiceGrpc;
import dev.snowlane.v1.IdServiceGrpc.IdServiceBlockingStub;
import java.util.Iterator;

/** A stream of IDs. */
final class RpcIdStream extends RpcStream<IdServiceBlockingStub, BatchNextIdsResponse, long[]> implements IdStream {

  private final int chunkSize;

  RpcIdStream(Calls calls, StreamOptions options, long count) {
    super(calls, IdServiceGrpc::newBlockingStub, "BatchNextIds", options, count);
    this.chunkSize = options.chunkSize();
  }

  @Override
  String items() {
    return "IDs";
  }

  @Override
  Iterator<BatchNextIdsResponse> open(IdServiceBlockingStub stub, long left) {
    return stub.batchNextIds(BatchNextIdsRequest.newBuilder().setCount(left).setChunkSize(chunkSize).build());
  }

  @Override
  void admit(Calls.Admission admission, BatchNextIdsResponse response) {
    admission.deployment(response.getDeployment());
  }

  @Override
  ChunkReader<BatchNextIdsResponse, long[]> reader() {
    return new RisingIds();
  }

  @Override
  int sizeOf(long[] ids) {
    return ids.length;
  }

  /** All IDs of one server's stream rise. */
  private static final class RisingIds implements ChunkReader<BatchNextIdsResponse, long[]> {

    private long lastId = RunCheck.ID_MIN - 1;

    @Override
    public long[] read(BatchNextIdsResponse response) {
      long[] ids = new long[response.getIdsCount()];
      for (int i = 0; i < ids.length; i++) {
        ids[i] = response.getIds(i);
        if (ids[i] <= lastId) throw invalid("The server sent IDs that are not in ascending order.", "id", ids[i]);
        lastId = ids[i];
      }
      return ids;
    }
  }
}
