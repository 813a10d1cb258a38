package dev.snowlane.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
 * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
 * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
 * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class SequenceServiceGrpc {

  private SequenceServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "snowlane.v1.SequenceService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.CreateSequenceRequest,
      dev.snowlane.v1.CreateSequenceResponse> getCreateSequenceMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "CreateSequence",
      requestType = dev.snowlane.v1.CreateSequenceRequest.class,
      responseType = dev.snowlane.v1.CreateSequenceResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.CreateSequenceRequest,
      dev.snowlane.v1.CreateSequenceResponse> getCreateSequenceMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.CreateSequenceRequest, dev.snowlane.v1.CreateSequenceResponse> getCreateSequenceMethod;
    if ((getCreateSequenceMethod = SequenceServiceGrpc.getCreateSequenceMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getCreateSequenceMethod = SequenceServiceGrpc.getCreateSequenceMethod) == null) {
          SequenceServiceGrpc.getCreateSequenceMethod = getCreateSequenceMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.CreateSequenceRequest, dev.snowlane.v1.CreateSequenceResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "CreateSequence"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.CreateSequenceRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.CreateSequenceResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("CreateSequence"))
              .build();
        }
      }
    }
    return getCreateSequenceMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.GetSequenceRequest,
      dev.snowlane.v1.GetSequenceResponse> getGetSequenceMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetSequence",
      requestType = dev.snowlane.v1.GetSequenceRequest.class,
      responseType = dev.snowlane.v1.GetSequenceResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.GetSequenceRequest,
      dev.snowlane.v1.GetSequenceResponse> getGetSequenceMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.GetSequenceRequest, dev.snowlane.v1.GetSequenceResponse> getGetSequenceMethod;
    if ((getGetSequenceMethod = SequenceServiceGrpc.getGetSequenceMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getGetSequenceMethod = SequenceServiceGrpc.getGetSequenceMethod) == null) {
          SequenceServiceGrpc.getGetSequenceMethod = getGetSequenceMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.GetSequenceRequest, dev.snowlane.v1.GetSequenceResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetSequence"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetSequenceRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetSequenceResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("GetSequence"))
              .build();
        }
      }
    }
    return getGetSequenceMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.ListSequencesRequest,
      dev.snowlane.v1.ListSequencesResponse> getListSequencesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListSequences",
      requestType = dev.snowlane.v1.ListSequencesRequest.class,
      responseType = dev.snowlane.v1.ListSequencesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.ListSequencesRequest,
      dev.snowlane.v1.ListSequencesResponse> getListSequencesMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.ListSequencesRequest, dev.snowlane.v1.ListSequencesResponse> getListSequencesMethod;
    if ((getListSequencesMethod = SequenceServiceGrpc.getListSequencesMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getListSequencesMethod = SequenceServiceGrpc.getListSequencesMethod) == null) {
          SequenceServiceGrpc.getListSequencesMethod = getListSequencesMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.ListSequencesRequest, dev.snowlane.v1.ListSequencesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListSequences"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ListSequencesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ListSequencesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("ListSequences"))
              .build();
        }
      }
    }
    return getListSequencesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.UpdateSequenceRequest,
      dev.snowlane.v1.UpdateSequenceResponse> getUpdateSequenceMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "UpdateSequence",
      requestType = dev.snowlane.v1.UpdateSequenceRequest.class,
      responseType = dev.snowlane.v1.UpdateSequenceResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.UpdateSequenceRequest,
      dev.snowlane.v1.UpdateSequenceResponse> getUpdateSequenceMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.UpdateSequenceRequest, dev.snowlane.v1.UpdateSequenceResponse> getUpdateSequenceMethod;
    if ((getUpdateSequenceMethod = SequenceServiceGrpc.getUpdateSequenceMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getUpdateSequenceMethod = SequenceServiceGrpc.getUpdateSequenceMethod) == null) {
          SequenceServiceGrpc.getUpdateSequenceMethod = getUpdateSequenceMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.UpdateSequenceRequest, dev.snowlane.v1.UpdateSequenceResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "UpdateSequence"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.UpdateSequenceRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.UpdateSequenceResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("UpdateSequence"))
              .build();
        }
      }
    }
    return getUpdateSequenceMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.NextValueRequest,
      dev.snowlane.v1.NextValueResponse> getNextValueMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "NextValue",
      requestType = dev.snowlane.v1.NextValueRequest.class,
      responseType = dev.snowlane.v1.NextValueResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.NextValueRequest,
      dev.snowlane.v1.NextValueResponse> getNextValueMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.NextValueRequest, dev.snowlane.v1.NextValueResponse> getNextValueMethod;
    if ((getNextValueMethod = SequenceServiceGrpc.getNextValueMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getNextValueMethod = SequenceServiceGrpc.getNextValueMethod) == null) {
          SequenceServiceGrpc.getNextValueMethod = getNextValueMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.NextValueRequest, dev.snowlane.v1.NextValueResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "NextValue"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.NextValueRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.NextValueResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("NextValue"))
              .build();
        }
      }
    }
    return getNextValueMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.BatchNextValuesRequest,
      dev.snowlane.v1.BatchNextValuesResponse> getBatchNextValuesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "BatchNextValues",
      requestType = dev.snowlane.v1.BatchNextValuesRequest.class,
      responseType = dev.snowlane.v1.BatchNextValuesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.BatchNextValuesRequest,
      dev.snowlane.v1.BatchNextValuesResponse> getBatchNextValuesMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.BatchNextValuesRequest, dev.snowlane.v1.BatchNextValuesResponse> getBatchNextValuesMethod;
    if ((getBatchNextValuesMethod = SequenceServiceGrpc.getBatchNextValuesMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getBatchNextValuesMethod = SequenceServiceGrpc.getBatchNextValuesMethod) == null) {
          SequenceServiceGrpc.getBatchNextValuesMethod = getBatchNextValuesMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.BatchNextValuesRequest, dev.snowlane.v1.BatchNextValuesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "BatchNextValues"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.BatchNextValuesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.BatchNextValuesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("BatchNextValues"))
              .build();
        }
      }
    }
    return getBatchNextValuesMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.ReserveValuesRequest,
      dev.snowlane.v1.ReserveValuesResponse> getReserveValuesMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ReserveValues",
      requestType = dev.snowlane.v1.ReserveValuesRequest.class,
      responseType = dev.snowlane.v1.ReserveValuesResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.ReserveValuesRequest,
      dev.snowlane.v1.ReserveValuesResponse> getReserveValuesMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.ReserveValuesRequest, dev.snowlane.v1.ReserveValuesResponse> getReserveValuesMethod;
    if ((getReserveValuesMethod = SequenceServiceGrpc.getReserveValuesMethod) == null) {
      synchronized (SequenceServiceGrpc.class) {
        if ((getReserveValuesMethod = SequenceServiceGrpc.getReserveValuesMethod) == null) {
          SequenceServiceGrpc.getReserveValuesMethod = getReserveValuesMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.ReserveValuesRequest, dev.snowlane.v1.ReserveValuesResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ReserveValues"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ReserveValuesRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ReserveValuesResponse.getDefaultInstance()))
              .setSchemaDescriptor(new SequenceServiceMethodDescriptorSupplier("ReserveValues"))
              .build();
        }
      }
    }
    return getReserveValuesMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static SequenceServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SequenceServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SequenceServiceStub>() {
        @java.lang.Override
        public SequenceServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SequenceServiceStub(channel, callOptions);
        }
      };
    return SequenceServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static SequenceServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SequenceServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SequenceServiceBlockingV2Stub>() {
        @java.lang.Override
        public SequenceServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SequenceServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return SequenceServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static SequenceServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SequenceServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SequenceServiceBlockingStub>() {
        @java.lang.Override
        public SequenceServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SequenceServiceBlockingStub(channel, callOptions);
        }
      };
    return SequenceServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static SequenceServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<SequenceServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<SequenceServiceFutureStub>() {
        @java.lang.Override
        public SequenceServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new SequenceServiceFutureStub(channel, callOptions);
        }
      };
    return SequenceServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
   * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
   * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
   * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Makes a sequence. A repeated call with the same definition gives the existing sequence, so a retry is safe.
     * Errors: SEQUENCE_EXISTS (one with another definition exists), INVALID_SEQUENCE (the field is named); STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    default void createSequence(dev.snowlane.v1.CreateSequenceRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.CreateSequenceResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getCreateSequenceMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives one sequence as the database has it now. No side effects.
     * Errors: SEQUENCE_NOT_FOUND; STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    default void getSequence(dev.snowlane.v1.GetSequenceRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetSequenceResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetSequenceMethod(), responseObserver);
    }

    /**
     * <pre>
     * Lists the sequences of the server's namespace by name, in order of bytes. Each page is a look of its own. No side effects.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after
     * RetryInfo).
     * </pre>
     */
    default void listSequences(dev.snowlane.v1.ListSequencesRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ListSequencesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListSequencesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Changes the fields of a sequence that the mask names. Other servers notice within ten seconds. A retry is safe.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED (the etag is an old one: read again), INVALID_SEQUENCE (no mask, an immutable field,
     * a value out of range, or next_value downward); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    default void updateSequence(dev.snowlane.v1.UpdateSequenceRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.UpdateSequenceResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getUpdateSequenceMethod(), responseObserver);
    }

    /**
     * <pre>
     * Hands out one value. Not idempotent: each call hands out another, and a value that was not received is a gap. Never the same value
     * twice. Waits at most until the caller's deadline or for one second. Values of one server rise where one
     * database has the sequence; across servers, and across the stripes of several databases, they do not.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, PERIOD_CLOSED; BURST_EXCEEDED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    default void nextValue(dev.snowlane.v1.NextValueRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.NextValueResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getNextValueMethod(), responseObserver);
    }

    /**
     * <pre>
     * Hands out `count` values in chunks, as fast as the reader takes them. They rise as those of NextValue do. A reader that stops or
     * cancels wastes at most two chunks beyond what its own window had taken.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE, STREAM_STALLED.
     * </pre>
     */
    default void batchNextValues(dev.snowlane.v1.BatchNextValuesRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.BatchNextValuesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getBatchNextValuesMethod(), responseObserver);
    }

    /**
     * <pre>
     * Hands out values as runs. Grants what can be had without waiting, at least 1 and at most `count`; call again for more. A value belongs
     * to the caller for ever, used or not.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    default void reserveValues(dev.snowlane.v1.ReserveValuesRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ReserveValuesResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReserveValuesMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service SequenceService.
   * <pre>
   * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
   * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
   * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
   * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static abstract class SequenceServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return SequenceServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service SequenceService.
   * <pre>
   * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
   * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
   * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
   * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class SequenceServiceStub
      extends io.grpc.stub.AbstractAsyncStub<SequenceServiceStub> {
    private SequenceServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SequenceServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SequenceServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a sequence. A repeated call with the same definition gives the existing sequence, so a retry is safe.
     * Errors: SEQUENCE_EXISTS (one with another definition exists), INVALID_SEQUENCE (the field is named); STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public void createSequence(dev.snowlane.v1.CreateSequenceRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.CreateSequenceResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getCreateSequenceMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives one sequence as the database has it now. No side effects.
     * Errors: SEQUENCE_NOT_FOUND; STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public void getSequence(dev.snowlane.v1.GetSequenceRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetSequenceResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetSequenceMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Lists the sequences of the server's namespace by name, in order of bytes. Each page is a look of its own. No side effects.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after
     * RetryInfo).
     * </pre>
     */
    public void listSequences(dev.snowlane.v1.ListSequencesRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ListSequencesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListSequencesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Changes the fields of a sequence that the mask names. Other servers notice within ten seconds. A retry is safe.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED (the etag is an old one: read again), INVALID_SEQUENCE (no mask, an immutable field,
     * a value out of range, or next_value downward); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public void updateSequence(dev.snowlane.v1.UpdateSequenceRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.UpdateSequenceResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getUpdateSequenceMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Hands out one value. Not idempotent: each call hands out another, and a value that was not received is a gap. Never the same value
     * twice. Waits at most until the caller's deadline or for one second. Values of one server rise where one
     * database has the sequence; across servers, and across the stripes of several databases, they do not.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, PERIOD_CLOSED; BURST_EXCEEDED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public void nextValue(dev.snowlane.v1.NextValueRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.NextValueResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getNextValueMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Hands out `count` values in chunks, as fast as the reader takes them. They rise as those of NextValue do. A reader that stops or
     * cancels wastes at most two chunks beyond what its own window had taken.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE, STREAM_STALLED.
     * </pre>
     */
    public void batchNextValues(dev.snowlane.v1.BatchNextValuesRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.BatchNextValuesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getBatchNextValuesMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Hands out values as runs. Grants what can be had without waiting, at least 1 and at most `count`; call again for more. A value belongs
     * to the caller for ever, used or not.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public void reserveValues(dev.snowlane.v1.ReserveValuesRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ReserveValuesResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getReserveValuesMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service SequenceService.
   * <pre>
   * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
   * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
   * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
   * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class SequenceServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<SequenceServiceBlockingV2Stub> {
    private SequenceServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SequenceServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SequenceServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a sequence. A repeated call with the same definition gives the existing sequence, so a retry is safe.
     * Errors: SEQUENCE_EXISTS (one with another definition exists), INVALID_SEQUENCE (the field is named); STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public dev.snowlane.v1.CreateSequenceResponse createSequence(dev.snowlane.v1.CreateSequenceRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getCreateSequenceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives one sequence as the database has it now. No side effects.
     * Errors: SEQUENCE_NOT_FOUND; STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.GetSequenceResponse getSequence(dev.snowlane.v1.GetSequenceRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetSequenceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the sequences of the server's namespace by name, in order of bytes. Each page is a look of its own. No side effects.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after
     * RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.ListSequencesResponse listSequences(dev.snowlane.v1.ListSequencesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListSequencesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes the fields of a sequence that the mask names. Other servers notice within ten seconds. A retry is safe.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED (the etag is an old one: read again), INVALID_SEQUENCE (no mask, an immutable field,
     * a value out of range, or next_value downward); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.UpdateSequenceResponse updateSequence(dev.snowlane.v1.UpdateSequenceRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getUpdateSequenceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out one value. Not idempotent: each call hands out another, and a value that was not received is a gap. Never the same value
     * twice. Waits at most until the caller's deadline or for one second. Values of one server rise where one
     * database has the sequence; across servers, and across the stripes of several databases, they do not.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, PERIOD_CLOSED; BURST_EXCEEDED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public dev.snowlane.v1.NextValueResponse nextValue(dev.snowlane.v1.NextValueRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getNextValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out `count` values in chunks, as fast as the reader takes them. They rise as those of NextValue do. A reader that stops or
     * cancels wastes at most two chunks beyond what its own window had taken.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE, STREAM_STALLED.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.snowlane.v1.BatchNextValuesResponse>
        batchNextValues(dev.snowlane.v1.BatchNextValuesRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getBatchNextValuesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out values as runs. Grants what can be had without waiting, at least 1 and at most `count`; call again for more. A value belongs
     * to the caller for ever, used or not.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public dev.snowlane.v1.ReserveValuesResponse reserveValues(dev.snowlane.v1.ReserveValuesRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getReserveValuesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service SequenceService.
   * <pre>
   * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
   * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
   * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
   * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class SequenceServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<SequenceServiceBlockingStub> {
    private SequenceServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SequenceServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SequenceServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a sequence. A repeated call with the same definition gives the existing sequence, so a retry is safe.
     * Errors: SEQUENCE_EXISTS (one with another definition exists), INVALID_SEQUENCE (the field is named); STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public dev.snowlane.v1.CreateSequenceResponse createSequence(dev.snowlane.v1.CreateSequenceRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getCreateSequenceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives one sequence as the database has it now. No side effects.
     * Errors: SEQUENCE_NOT_FOUND; STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.GetSequenceResponse getSequence(dev.snowlane.v1.GetSequenceRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetSequenceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Lists the sequences of the server's namespace by name, in order of bytes. Each page is a look of its own. No side effects.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after
     * RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.ListSequencesResponse listSequences(dev.snowlane.v1.ListSequencesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListSequencesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Changes the fields of a sequence that the mask names. Other servers notice within ten seconds. A retry is safe.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED (the etag is an old one: read again), INVALID_SEQUENCE (no mask, an immutable field,
     * a value out of range, or next_value downward); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.UpdateSequenceResponse updateSequence(dev.snowlane.v1.UpdateSequenceRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getUpdateSequenceMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out one value. Not idempotent: each call hands out another, and a value that was not received is a gap. Never the same value
     * twice. Waits at most until the caller's deadline or for one second. Values of one server rise where one
     * database has the sequence; across servers, and across the stripes of several databases, they do not.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, PERIOD_CLOSED; BURST_EXCEEDED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public dev.snowlane.v1.NextValueResponse nextValue(dev.snowlane.v1.NextValueRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getNextValueMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out `count` values in chunks, as fast as the reader takes them. They rise as those of NextValue do. A reader that stops or
     * cancels wastes at most two chunks beyond what its own window had taken.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE, STREAM_STALLED.
     * </pre>
     */
    public java.util.Iterator<dev.snowlane.v1.BatchNextValuesResponse> batchNextValues(
        dev.snowlane.v1.BatchNextValuesRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getBatchNextValuesMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Hands out values as runs. Grants what can be had without waiting, at least 1 and at most `count`; call again for more. A value belongs
     * to the caller for ever, used or not.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public dev.snowlane.v1.ReserveValuesResponse reserveValues(dev.snowlane.v1.ReserveValuesRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getReserveValuesMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service SequenceService.
   * <pre>
   * Counts: hands out the values of named sequences, which are small and dense, for order numbers and the like. A value is not an ID: it is
   * unique within its sequence (and period) alone, it carries no time, and it can be guessed.
   * A value lies between 1 and 2^63 - 1, inclusive. It travels as int64, in JSON as a decimal string. A sequence is never deleted, because a
   * name that came back would repeat values; it can be disabled instead. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class SequenceServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<SequenceServiceFutureStub> {
    private SequenceServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected SequenceServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new SequenceServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Makes a sequence. A repeated call with the same definition gives the existing sequence, so a retry is safe.
     * Errors: SEQUENCE_EXISTS (one with another definition exists), INVALID_SEQUENCE (the field is named); STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.CreateSequenceResponse> createSequence(
        dev.snowlane.v1.CreateSequenceRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getCreateSequenceMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives one sequence as the database has it now. No side effects.
     * Errors: SEQUENCE_NOT_FOUND; STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.GetSequenceResponse> getSequence(
        dev.snowlane.v1.GetSequenceRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetSequenceMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Lists the sequences of the server's namespace by name, in order of bytes. Each page is a look of its own. No side effects.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after
     * RetryInfo).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.ListSequencesResponse> listSequences(
        dev.snowlane.v1.ListSequencesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListSequencesMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Changes the fields of a sequence that the mask names. Other servers notice within ten seconds. A retry is safe.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_CHANGED (the etag is an old one: read again), INVALID_SEQUENCE (no mask, an immutable field,
     * a value out of range, or next_value downward); STORE_UNAVAILABLE, SHUTTING_DOWN (retry after RetryInfo).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.UpdateSequenceResponse> updateSequence(
        dev.snowlane.v1.UpdateSequenceRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getUpdateSequenceMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Hands out one value. Not idempotent: each call hands out another, and a value that was not received is a gap. Never the same value
     * twice. Waits at most until the caller's deadline or for one second. Values of one server rise where one
     * database has the sequence; across servers, and across the stripes of several databases, they do not.
     * Errors: SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, PERIOD_CLOSED; BURST_EXCEEDED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); STORE_WENT_BACK.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.NextValueResponse> nextValue(
        dev.snowlane.v1.NextValueRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getNextValueMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Hands out values as runs. Grants what can be had without waiting, at least 1 and at most `count`; call again for more. A value belongs
     * to the caller for ever, used or not.
     * Errors: those of NextValue, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.ReserveValuesResponse> reserveValues(
        dev.snowlane.v1.ReserveValuesRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getReserveValuesMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_CREATE_SEQUENCE = 0;
  private static final int METHODID_GET_SEQUENCE = 1;
  private static final int METHODID_LIST_SEQUENCES = 2;
  private static final int METHODID_UPDATE_SEQUENCE = 3;
  private static final int METHODID_NEXT_VALUE = 4;
  private static final int METHODID_BATCH_NEXT_VALUES = 5;
  private static final int METHODID_RESERVE_VALUES = 6;

  private static final class MethodHandlers<Req, Resp> implements
      io.grpc.stub.ServerCalls.UnaryMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ServerStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.ClientStreamingMethod<Req, Resp>,
      io.grpc.stub.ServerCalls.BidiStreamingMethod<Req, Resp> {
    private final AsyncService serviceImpl;
    private final int methodId;

    MethodHandlers(AsyncService serviceImpl, int methodId) {
      this.serviceImpl = serviceImpl;
      this.methodId = methodId;
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public void invoke(Req request, io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        case METHODID_CREATE_SEQUENCE:
          serviceImpl.createSequence((dev.snowlane.v1.CreateSequenceRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.CreateSequenceResponse>) responseObserver);
          break;
        case METHODID_GET_SEQUENCE:
          serviceImpl.getSequence((dev.snowlane.v1.GetSequenceRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.GetSequenceResponse>) responseObserver);
          break;
        case METHODID_LIST_SEQUENCES:
          serviceImpl.listSequences((dev.snowlane.v1.ListSequencesRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.ListSequencesResponse>) responseObserver);
          break;
        case METHODID_UPDATE_SEQUENCE:
          serviceImpl.updateSequence((dev.snowlane.v1.UpdateSequenceRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.UpdateSequenceResponse>) responseObserver);
          break;
        case METHODID_NEXT_VALUE:
          serviceImpl.nextValue((dev.snowlane.v1.NextValueRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.NextValueResponse>) responseObserver);
          break;
        case METHODID_BATCH_NEXT_VALUES:
          serviceImpl.batchNextValues((dev.snowlane.v1.BatchNextValuesRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.BatchNextValuesResponse>) responseObserver);
          break;
        case METHODID_RESERVE_VALUES:
          serviceImpl.reserveValues((dev.snowlane.v1.ReserveValuesRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.ReserveValuesResponse>) responseObserver);
          break;
        default:
          throw new AssertionError();
      }
    }

    @java.lang.Override
    @java.lang.SuppressWarnings("unchecked")
    public io.grpc.stub.StreamObserver<Req> invoke(
        io.grpc.stub.StreamObserver<Resp> responseObserver) {
      switch (methodId) {
        default:
          throw new AssertionError();
      }
    }
  }

  public static final io.grpc.ServerServiceDefinition bindService(AsyncService service) {
    return io.grpc.ServerServiceDefinition.builder(getServiceDescriptor())
        .addMethod(
          getCreateSequenceMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.CreateSequenceRequest,
              dev.snowlane.v1.CreateSequenceResponse>(
                service, METHODID_CREATE_SEQUENCE)))
        .addMethod(
          getGetSequenceMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.GetSequenceRequest,
              dev.snowlane.v1.GetSequenceResponse>(
                service, METHODID_GET_SEQUENCE)))
        .addMethod(
          getListSequencesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.ListSequencesRequest,
              dev.snowlane.v1.ListSequencesResponse>(
                service, METHODID_LIST_SEQUENCES)))
        .addMethod(
          getUpdateSequenceMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.UpdateSequenceRequest,
              dev.snowlane.v1.UpdateSequenceResponse>(
                service, METHODID_UPDATE_SEQUENCE)))
        .addMethod(
          getNextValueMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.NextValueRequest,
              dev.snowlane.v1.NextValueResponse>(
                service, METHODID_NEXT_VALUE)))
        .addMethod(
          getBatchNextValuesMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.snowlane.v1.BatchNextValuesRequest,
              dev.snowlane.v1.BatchNextValuesResponse>(
                service, METHODID_BATCH_NEXT_VALUES)))
        .addMethod(
          getReserveValuesMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.ReserveValuesRequest,
              dev.snowlane.v1.ReserveValuesResponse>(
                service, METHODID_RESERVE_VALUES)))
        .build();
  }

  private static abstract class SequenceServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    SequenceServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.snowlane.v1.SequenceServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("SequenceService");
    }
  }

  private static final class SequenceServiceFileDescriptorSupplier
      extends SequenceServiceBaseDescriptorSupplier {
    SequenceServiceFileDescriptorSupplier() {}
  }

  private static final class SequenceServiceMethodDescriptorSupplier
      extends SequenceServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    SequenceServiceMethodDescriptorSupplier(java.lang.String methodName) {
      this.methodName = methodName;
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.MethodDescriptor getMethodDescriptor() {
      return getServiceDescriptor().findMethodByName(methodName);
    }
  }

  private static volatile io.grpc.ServiceDescriptor serviceDescriptor;

  public static io.grpc.ServiceDescriptor getServiceDescriptor() {
    io.grpc.ServiceDescriptor result = serviceDescriptor;
    if (result == null) {
      synchronized (SequenceServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new SequenceServiceFileDescriptorSupplier())
              .addMethod(getCreateSequenceMethod())
              .addMethod(getGetSequenceMethod())
              .addMethod(getListSequencesMethod())
              .addMethod(getUpdateSequenceMethod())
              .addMethod(getNextValueMethod())
              .addMethod(getBatchNextValuesMethod())
              .addMethod(getReserveValuesMethod())
              .build();
        }
      }
    }
    return result;
  }
}
