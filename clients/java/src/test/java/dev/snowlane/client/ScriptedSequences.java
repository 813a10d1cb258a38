package dev.snowlane.client;

import dev.snowlane.v1.BatchNextValuesRequest;
import dev.snowlane.v1.BatchNextValuesResponse;
import dev.snowlane.v1.NextValueRequest;
import dev.snowlane.v1.NextValueResponse;
import dev.snowlane.v1.ReserveValuesRequest;
import dev.snowlane.v1.ReserveValuesResponse;
import dev.snowlane.v1.SequenceServiceGrpc;
import io.grpc.stub.StreamObserver;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** The sequences of a {@link ScriptedServer}: they do what a test has set. */
final class ScriptedSequences extends SequenceServiceGrpc.SequenceServiceImplBase {

  volatile Function<NextValueRequest, NextValueResponse> onNextValue;
  volatile Function<ReserveValuesRequest, ReserveValuesResponse> onReserve;
  volatile BiConsumer<BatchNextValuesRequest, Consumer<BatchNextValuesResponse>> onBatch;

  @Override
  public void nextValue(NextValueRequest request, StreamObserver<NextValueResponse> answer) {
    ScriptedServer.answer(answer, () -> answer.onNext(onNextValue.apply(request)));
  }

  @Override
  public void reserveValues(ReserveValuesRequest request, StreamObserver<ReserveValuesResponse> answer) {
    ScriptedServer.answer(answer, () -> answer.onNext(onReserve.apply(request)));
  }

  @Override
  public void batchNextValues(BatchNextValuesRequest request, StreamObserver<BatchNextValuesResponse> answer) {
    ScriptedServer.answer(answer, () -> onBatch.accept(request, answer::onNext));
  }
}
