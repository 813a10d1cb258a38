package dev.snowlane.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Hands out unique, time-sorted 64-bit IDs and reads them again.
 * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
 * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
 * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class IdServiceGrpc {

  private IdServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "snowlane.v1.IdService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.NextIdRequest,
      dev.snowlane.v1.NextIdResponse> getNextIdMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "NextId",
      requestType = dev.snowlane.v1.NextIdRequest.class,
      responseType = dev.snowlane.v1.NextIdResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.NextIdRequest,
      dev.snowlane.v1.NextIdResponse> getNextIdMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.NextIdRequest, dev.snowlane.v1.NextIdResponse> getNextIdMethod;
    if ((getNextIdMethod = IdServiceGrpc.getNextIdMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getNextIdMethod = IdServiceGrpc.getNextIdMethod) == null) {
          IdServiceGrpc.getNextIdMethod = getNextIdMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.NextIdRequest, dev.snowlane.v1.NextIdResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "NextId"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.NextIdRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.NextIdResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("NextId"))
              .build();
        }
      }
    }
    return getNextIdMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.NextIdsRequest,
      dev.snowlane.v1.NextIdsResponse> getNextIdsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "NextIds",
      requestType = dev.snowlane.v1.NextIdsRequest.class,
      responseType = dev.snowlane.v1.NextIdsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.NextIdsRequest,
      dev.snowlane.v1.NextIdsResponse> getNextIdsMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.NextIdsRequest, dev.snowlane.v1.NextIdsResponse> getNextIdsMethod;
    if ((getNextIdsMethod = IdServiceGrpc.getNextIdsMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getNextIdsMethod = IdServiceGrpc.getNextIdsMethod) == null) {
          IdServiceGrpc.getNextIdsMethod = getNextIdsMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.NextIdsRequest, dev.snowlane.v1.NextIdsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "NextIds"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.NextIdsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.NextIdsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("NextIds"))
              .build();
        }
      }
    }
    return getNextIdsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.BatchNextIdsRequest,
      dev.snowlane.v1.BatchNextIdsResponse> getBatchNextIdsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "BatchNextIds",
      requestType = dev.snowlane.v1.BatchNextIdsRequest.class,
      responseType = dev.snowlane.v1.BatchNextIdsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.BatchNextIdsRequest,
      dev.snowlane.v1.BatchNextIdsResponse> getBatchNextIdsMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.BatchNextIdsRequest, dev.snowlane.v1.BatchNextIdsResponse> getBatchNextIdsMethod;
    if ((getBatchNextIdsMethod = IdServiceGrpc.getBatchNextIdsMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getBatchNextIdsMethod = IdServiceGrpc.getBatchNextIdsMethod) == null) {
          IdServiceGrpc.getBatchNextIdsMethod = getBatchNextIdsMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.BatchNextIdsRequest, dev.snowlane.v1.BatchNextIdsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.SERVER_STREAMING)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "BatchNextIds"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.BatchNextIdsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.BatchNextIdsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("BatchNextIds"))
              .build();
        }
      }
    }
    return getBatchNextIdsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.ReserveIdsRequest,
      dev.snowlane.v1.ReserveIdsResponse> getReserveIdsMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ReserveIds",
      requestType = dev.snowlane.v1.ReserveIdsRequest.class,
      responseType = dev.snowlane.v1.ReserveIdsResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.ReserveIdsRequest,
      dev.snowlane.v1.ReserveIdsResponse> getReserveIdsMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.ReserveIdsRequest, dev.snowlane.v1.ReserveIdsResponse> getReserveIdsMethod;
    if ((getReserveIdsMethod = IdServiceGrpc.getReserveIdsMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getReserveIdsMethod = IdServiceGrpc.getReserveIdsMethod) == null) {
          IdServiceGrpc.getReserveIdsMethod = getReserveIdsMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.ReserveIdsRequest, dev.snowlane.v1.ReserveIdsResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ReserveIds"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ReserveIdsRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ReserveIdsResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("ReserveIds"))
              .build();
        }
      }
    }
    return getReserveIdsMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.ParseRequest,
      dev.snowlane.v1.ParseResponse> getParseMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "Parse",
      requestType = dev.snowlane.v1.ParseRequest.class,
      responseType = dev.snowlane.v1.ParseResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.ParseRequest,
      dev.snowlane.v1.ParseResponse> getParseMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.ParseRequest, dev.snowlane.v1.ParseResponse> getParseMethod;
    if ((getParseMethod = IdServiceGrpc.getParseMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getParseMethod = IdServiceGrpc.getParseMethod) == null) {
          IdServiceGrpc.getParseMethod = getParseMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.ParseRequest, dev.snowlane.v1.ParseResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "Parse"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ParseRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ParseResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("Parse"))
              .build();
        }
      }
    }
    return getParseMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.GetIdRangeRequest,
      dev.snowlane.v1.GetIdRangeResponse> getGetIdRangeMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetIdRange",
      requestType = dev.snowlane.v1.GetIdRangeRequest.class,
      responseType = dev.snowlane.v1.GetIdRangeResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.GetIdRangeRequest,
      dev.snowlane.v1.GetIdRangeResponse> getGetIdRangeMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.GetIdRangeRequest, dev.snowlane.v1.GetIdRangeResponse> getGetIdRangeMethod;
    if ((getGetIdRangeMethod = IdServiceGrpc.getGetIdRangeMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getGetIdRangeMethod = IdServiceGrpc.getGetIdRangeMethod) == null) {
          IdServiceGrpc.getGetIdRangeMethod = getGetIdRangeMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.GetIdRangeRequest, dev.snowlane.v1.GetIdRangeResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetIdRange"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetIdRangeRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetIdRangeResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("GetIdRange"))
              .build();
        }
      }
    }
    return getGetIdRangeMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.GetInfoRequest,
      dev.snowlane.v1.GetInfoResponse> getGetInfoMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetInfo",
      requestType = dev.snowlane.v1.GetInfoRequest.class,
      responseType = dev.snowlane.v1.GetInfoResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.GetInfoRequest,
      dev.snowlane.v1.GetInfoResponse> getGetInfoMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.GetInfoRequest, dev.snowlane.v1.GetInfoResponse> getGetInfoMethod;
    if ((getGetInfoMethod = IdServiceGrpc.getGetInfoMethod) == null) {
      synchronized (IdServiceGrpc.class) {
        if ((getGetInfoMethod = IdServiceGrpc.getGetInfoMethod) == null) {
          IdServiceGrpc.getGetInfoMethod = getGetInfoMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.GetInfoRequest, dev.snowlane.v1.GetInfoResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetInfo"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetInfoRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetInfoResponse.getDefaultInstance()))
              .setSchemaDescriptor(new IdServiceMethodDescriptorSupplier("GetInfo"))
              .build();
        }
      }
    }
    return getGetInfoMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static IdServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<IdServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<IdServiceStub>() {
        @java.lang.Override
        public IdServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new IdServiceStub(channel, callOptions);
        }
      };
    return IdServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static IdServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<IdServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<IdServiceBlockingV2Stub>() {
        @java.lang.Override
        public IdServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new IdServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return IdServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static IdServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<IdServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<IdServiceBlockingStub>() {
        @java.lang.Override
        public IdServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new IdServiceBlockingStub(channel, callOptions);
        }
      };
    return IdServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static IdServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<IdServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<IdServiceFutureStub>() {
        @java.lang.Override
        public IdServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new IdServiceFutureStub(channel, callOptions);
        }
      };
    return IdServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Hands out unique, time-sorted 64-bit IDs and reads them again.
   * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
   * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
   * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Issues one ID. Not idempotent: each call issues another. A retry is always safe: an ID that was not received is a gap, never a
     * duplicate. Waits at most until the caller's deadline or for one second.
     * Errors: INVALID_TEXT_FORMAT; CLOCK_ROLLED_BACK, BURST_EXCEEDED, WORKER_LEASE_LOST, WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH.
     * </pre>
     */
    default void nextId(dev.snowlane.v1.NextIdRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.NextIdResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getNextIdMethod(), responseObserver);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order in one response, for callers without streams, such as curl. Clients that issue many use
     * ReserveIds or BatchNextIds. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    default void nextIds(dev.snowlane.v1.NextIdsRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.NextIdsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getNextIdsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order, in chunks, as fast as the reader takes them. IDs are allocated as the reader's flow-control
     * window opens: a reader that stops or cancels wastes at most two chunks beyond what its own window had taken. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE, STREAM_STALLED. CLOCK_ROLLED_BACK ends a stream that could not go on ascending.
     * </pre>
     */
    default void batchNextIds(dev.snowlane.v1.BatchNextIdsRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.BatchNextIdsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getBatchNextIdsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reserves IDs as runs, for clients that hand them out from memory. Grants what can be had without waiting, at least 1 and at most
     * `count`; call again for more. A reserved ID belongs to the caller for ever, used or not. A retry is safe: it reserves others.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    default void reserveIds(dev.snowlane.v1.ReserveIdsRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ReserveIdsResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getReserveIdsMethod(), responseObserver);
    }

    /**
     * <pre>
     * Reads an ID, or a text form of one: when and by which worker it was made. Reads any UUID too, and the texts of some other generators.
     * No side effects.
     * Errors: MALFORMED_ID, MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_LAYOUT, INVALID_TEXT_FORMAT.
     * </pre>
     */
    default void parse(dev.snowlane.v1.ParseRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ParseResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getParseMethod(), responseObserver);
    }

    /**
     * <pre>
     * Gives the lowest and the highest ID that a time interval can hold, for range queries over stored IDs. No side effects.
     * Errors: INVALID_TIME_RANGE, INVALID_LAYOUT.
     * </pre>
     */
    default void getIdRange(dev.snowlane.v1.GetIdRangeRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetIdRangeResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetIdRangeMethod(), responseObserver);
    }

    /**
     * <pre>
     * Tells what this server issues: layout, worker ID, rollback policy, limits. No side effects. UNAVAILABLE while a server
     * that starts has not yet read the layout record from its store.
     * Errors: STORE_UNAVAILABLE, WORKER_LEASE_LOST.
     * </pre>
     */
    default void getInfo(dev.snowlane.v1.GetInfoRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetInfoResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetInfoMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service IdService.
   * <pre>
   * Hands out unique, time-sorted 64-bit IDs and reads them again.
   * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
   * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
   * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static abstract class IdServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return IdServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service IdService.
   * <pre>
   * Hands out unique, time-sorted 64-bit IDs and reads them again.
   * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
   * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
   * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class IdServiceStub
      extends io.grpc.stub.AbstractAsyncStub<IdServiceStub> {
    private IdServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected IdServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new IdServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Issues one ID. Not idempotent: each call issues another. A retry is always safe: an ID that was not received is a gap, never a
     * duplicate. Waits at most until the caller's deadline or for one second.
     * Errors: INVALID_TEXT_FORMAT; CLOCK_ROLLED_BACK, BURST_EXCEEDED, WORKER_LEASE_LOST, WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH.
     * </pre>
     */
    public void nextId(dev.snowlane.v1.NextIdRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.NextIdResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getNextIdMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order in one response, for callers without streams, such as curl. Clients that issue many use
     * ReserveIds or BatchNextIds. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public void nextIds(dev.snowlane.v1.NextIdsRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.NextIdsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getNextIdsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order, in chunks, as fast as the reader takes them. IDs are allocated as the reader's flow-control
     * window opens: a reader that stops or cancels wastes at most two chunks beyond what its own window had taken. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE, STREAM_STALLED. CLOCK_ROLLED_BACK ends a stream that could not go on ascending.
     * </pre>
     */
    public void batchNextIds(dev.snowlane.v1.BatchNextIdsRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.BatchNextIdsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncServerStreamingCall(
          getChannel().newCall(getBatchNextIdsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reserves IDs as runs, for clients that hand them out from memory. Grants what can be had without waiting, at least 1 and at most
     * `count`; call again for more. A reserved ID belongs to the caller for ever, used or not. A retry is safe: it reserves others.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public void reserveIds(dev.snowlane.v1.ReserveIdsRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ReserveIdsResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getReserveIdsMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Reads an ID, or a text form of one: when and by which worker it was made. Reads any UUID too, and the texts of some other generators.
     * No side effects.
     * Errors: MALFORMED_ID, MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_LAYOUT, INVALID_TEXT_FORMAT.
     * </pre>
     */
    public void parse(dev.snowlane.v1.ParseRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ParseResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getParseMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Gives the lowest and the highest ID that a time interval can hold, for range queries over stored IDs. No side effects.
     * Errors: INVALID_TIME_RANGE, INVALID_LAYOUT.
     * </pre>
     */
    public void getIdRange(dev.snowlane.v1.GetIdRangeRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetIdRangeResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetIdRangeMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Tells what this server issues: layout, worker ID, rollback policy, limits. No side effects. UNAVAILABLE while a server
     * that starts has not yet read the layout record from its store.
     * Errors: STORE_UNAVAILABLE, WORKER_LEASE_LOST.
     * </pre>
     */
    public void getInfo(dev.snowlane.v1.GetInfoRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetInfoResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetInfoMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service IdService.
   * <pre>
   * Hands out unique, time-sorted 64-bit IDs and reads them again.
   * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
   * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
   * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class IdServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<IdServiceBlockingV2Stub> {
    private IdServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected IdServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new IdServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Issues one ID. Not idempotent: each call issues another. A retry is always safe: an ID that was not received is a gap, never a
     * duplicate. Waits at most until the caller's deadline or for one second.
     * Errors: INVALID_TEXT_FORMAT; CLOCK_ROLLED_BACK, BURST_EXCEEDED, WORKER_LEASE_LOST, WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH.
     * </pre>
     */
    public dev.snowlane.v1.NextIdResponse nextId(dev.snowlane.v1.NextIdRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getNextIdMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order in one response, for callers without streams, such as curl. Clients that issue many use
     * ReserveIds or BatchNextIds. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public dev.snowlane.v1.NextIdsResponse nextIds(dev.snowlane.v1.NextIdsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getNextIdsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order, in chunks, as fast as the reader takes them. IDs are allocated as the reader's flow-control
     * window opens: a reader that stops or cancels wastes at most two chunks beyond what its own window had taken. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE, STREAM_STALLED. CLOCK_ROLLED_BACK ends a stream that could not go on ascending.
     * </pre>
     */
    @io.grpc.ExperimentalApi("https://github.com/grpc/grpc-java/issues/10918")
    public io.grpc.stub.BlockingClientCall<?, dev.snowlane.v1.BatchNextIdsResponse>
        batchNextIds(dev.snowlane.v1.BatchNextIdsRequest request) {
      return io.grpc.stub.ClientCalls.blockingV2ServerStreamingCall(
          getChannel(), getBatchNextIdsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reserves IDs as runs, for clients that hand them out from memory. Grants what can be had without waiting, at least 1 and at most
     * `count`; call again for more. A reserved ID belongs to the caller for ever, used or not. A retry is safe: it reserves others.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public dev.snowlane.v1.ReserveIdsResponse reserveIds(dev.snowlane.v1.ReserveIdsRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getReserveIdsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads an ID, or a text form of one: when and by which worker it was made. Reads any UUID too, and the texts of some other generators.
     * No side effects.
     * Errors: MALFORMED_ID, MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_LAYOUT, INVALID_TEXT_FORMAT.
     * </pre>
     */
    public dev.snowlane.v1.ParseResponse parse(dev.snowlane.v1.ParseRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getParseMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives the lowest and the highest ID that a time interval can hold, for range queries over stored IDs. No side effects.
     * Errors: INVALID_TIME_RANGE, INVALID_LAYOUT.
     * </pre>
     */
    public dev.snowlane.v1.GetIdRangeResponse getIdRange(dev.snowlane.v1.GetIdRangeRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetIdRangeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells what this server issues: layout, worker ID, rollback policy, limits. No side effects. UNAVAILABLE while a server
     * that starts has not yet read the layout record from its store.
     * Errors: STORE_UNAVAILABLE, WORKER_LEASE_LOST.
     * </pre>
     */
    public dev.snowlane.v1.GetInfoResponse getInfo(dev.snowlane.v1.GetInfoRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetInfoMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service IdService.
   * <pre>
   * Hands out unique, time-sorted 64-bit IDs and reads them again.
   * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
   * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
   * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class IdServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<IdServiceBlockingStub> {
    private IdServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected IdServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new IdServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Issues one ID. Not idempotent: each call issues another. A retry is always safe: an ID that was not received is a gap, never a
     * duplicate. Waits at most until the caller's deadline or for one second.
     * Errors: INVALID_TEXT_FORMAT; CLOCK_ROLLED_BACK, BURST_EXCEEDED, WORKER_LEASE_LOST, WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH.
     * </pre>
     */
    public dev.snowlane.v1.NextIdResponse nextId(dev.snowlane.v1.NextIdRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getNextIdMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order in one response, for callers without streams, such as curl. Clients that issue many use
     * ReserveIds or BatchNextIds. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public dev.snowlane.v1.NextIdsResponse nextIds(dev.snowlane.v1.NextIdsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getNextIdsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order, in chunks, as fast as the reader takes them. IDs are allocated as the reader's flow-control
     * window opens: a reader that stops or cancels wastes at most two chunks beyond what its own window had taken. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE, STREAM_STALLED. CLOCK_ROLLED_BACK ends a stream that could not go on ascending.
     * </pre>
     */
    public java.util.Iterator<dev.snowlane.v1.BatchNextIdsResponse> batchNextIds(
        dev.snowlane.v1.BatchNextIdsRequest request) {
      return io.grpc.stub.ClientCalls.blockingServerStreamingCall(
          getChannel(), getBatchNextIdsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reserves IDs as runs, for clients that hand them out from memory. Grants what can be had without waiting, at least 1 and at most
     * `count`; call again for more. A reserved ID belongs to the caller for ever, used or not. A retry is safe: it reserves others.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public dev.snowlane.v1.ReserveIdsResponse reserveIds(dev.snowlane.v1.ReserveIdsRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getReserveIdsMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Reads an ID, or a text form of one: when and by which worker it was made. Reads any UUID too, and the texts of some other generators.
     * No side effects.
     * Errors: MALFORMED_ID, MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_LAYOUT, INVALID_TEXT_FORMAT.
     * </pre>
     */
    public dev.snowlane.v1.ParseResponse parse(dev.snowlane.v1.ParseRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getParseMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Gives the lowest and the highest ID that a time interval can hold, for range queries over stored IDs. No side effects.
     * Errors: INVALID_TIME_RANGE, INVALID_LAYOUT.
     * </pre>
     */
    public dev.snowlane.v1.GetIdRangeResponse getIdRange(dev.snowlane.v1.GetIdRangeRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetIdRangeMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells what this server issues: layout, worker ID, rollback policy, limits. No side effects. UNAVAILABLE while a server
     * that starts has not yet read the layout record from its store.
     * Errors: STORE_UNAVAILABLE, WORKER_LEASE_LOST.
     * </pre>
     */
    public dev.snowlane.v1.GetInfoResponse getInfo(dev.snowlane.v1.GetInfoRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetInfoMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service IdService.
   * <pre>
   * Hands out unique, time-sorted 64-bit IDs and reads them again.
   * An ID lies between 0 and 2^63 - 1, inclusive. It travels as fixed64, in JSON as a decimal string; a JSON number above 2^53 - 1
   * has lost digits before any server sees it, so quote IDs. Generators of JavaScript that read the option jstype make strings of IDs,
   * too. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class IdServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<IdServiceFutureStub> {
    private IdServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected IdServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new IdServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Issues one ID. Not idempotent: each call issues another. A retry is always safe: an ID that was not received is a gap, never a
     * duplicate. Waits at most until the caller's deadline or for one second.
     * Errors: INVALID_TEXT_FORMAT; CLOCK_ROLLED_BACK, BURST_EXCEEDED, WORKER_LEASE_LOST, WINDOW_EXPIRED, STORE_UNAVAILABLE, SHUTTING_DOWN
     * (retry after RetryInfo); TIMESTAMP_EXHAUSTED, CLOCK_BEFORE_EPOCH.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.NextIdResponse> nextId(
        dev.snowlane.v1.NextIdRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getNextIdMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Issues `count` IDs in ascending order in one response, for callers without streams, such as curl. Clients that issue many use
     * ReserveIds or BatchNextIds. A retry is safe.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.NextIdsResponse> nextIds(
        dev.snowlane.v1.NextIdsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getNextIdsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reserves IDs as runs, for clients that hand them out from memory. Grants what can be had without waiting, at least 1 and at most
     * `count`; call again for more. A reserved ID belongs to the caller for ever, used or not. A retry is safe: it reserves others.
     * Errors: those of NextId, COUNT_OUT_OF_RANGE.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.ReserveIdsResponse> reserveIds(
        dev.snowlane.v1.ReserveIdsRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getReserveIdsMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Reads an ID, or a text form of one: when and by which worker it was made. Reads any UUID too, and the texts of some other generators.
     * No side effects.
     * Errors: MALFORMED_ID, MALFORMED_TEXT, AMBIGUOUS_TEXT, INVALID_LAYOUT, INVALID_TEXT_FORMAT.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.ParseResponse> parse(
        dev.snowlane.v1.ParseRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getParseMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Gives the lowest and the highest ID that a time interval can hold, for range queries over stored IDs. No side effects.
     * Errors: INVALID_TIME_RANGE, INVALID_LAYOUT.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.GetIdRangeResponse> getIdRange(
        dev.snowlane.v1.GetIdRangeRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetIdRangeMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Tells what this server issues: layout, worker ID, rollback policy, limits. No side effects. UNAVAILABLE while a server
     * that starts has not yet read the layout record from its store.
     * Errors: STORE_UNAVAILABLE, WORKER_LEASE_LOST.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.GetInfoResponse> getInfo(
        dev.snowlane.v1.GetInfoRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetInfoMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_NEXT_ID = 0;
  private static final int METHODID_NEXT_IDS = 1;
  private static final int METHODID_BATCH_NEXT_IDS = 2;
  private static final int METHODID_RESERVE_IDS = 3;
  private static final int METHODID_PARSE = 4;
  private static final int METHODID_GET_ID_RANGE = 5;
  private static final int METHODID_GET_INFO = 6;

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
        case METHODID_NEXT_ID:
          serviceImpl.nextId((dev.snowlane.v1.NextIdRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.NextIdResponse>) responseObserver);
          break;
        case METHODID_NEXT_IDS:
          serviceImpl.nextIds((dev.snowlane.v1.NextIdsRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.NextIdsResponse>) responseObserver);
          break;
        case METHODID_BATCH_NEXT_IDS:
          serviceImpl.batchNextIds((dev.snowlane.v1.BatchNextIdsRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.BatchNextIdsResponse>) responseObserver);
          break;
        case METHODID_RESERVE_IDS:
          serviceImpl.reserveIds((dev.snowlane.v1.ReserveIdsRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.ReserveIdsResponse>) responseObserver);
          break;
        case METHODID_PARSE:
          serviceImpl.parse((dev.snowlane.v1.ParseRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.ParseResponse>) responseObserver);
          break;
        case METHODID_GET_ID_RANGE:
          serviceImpl.getIdRange((dev.snowlane.v1.GetIdRangeRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.GetIdRangeResponse>) responseObserver);
          break;
        case METHODID_GET_INFO:
          serviceImpl.getInfo((dev.snowlane.v1.GetInfoRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.GetInfoResponse>) responseObserver);
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
          getNextIdMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.NextIdRequest,
              dev.snowlane.v1.NextIdResponse>(
                service, METHODID_NEXT_ID)))
        .addMethod(
          getNextIdsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.NextIdsRequest,
              dev.snowlane.v1.NextIdsResponse>(
                service, METHODID_NEXT_IDS)))
        .addMethod(
          getBatchNextIdsMethod(),
          io.grpc.stub.ServerCalls.asyncServerStreamingCall(
            new MethodHandlers<
              dev.snowlane.v1.BatchNextIdsRequest,
              dev.snowlane.v1.BatchNextIdsResponse>(
                service, METHODID_BATCH_NEXT_IDS)))
        .addMethod(
          getReserveIdsMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.ReserveIdsRequest,
              dev.snowlane.v1.ReserveIdsResponse>(
                service, METHODID_RESERVE_IDS)))
        .addMethod(
          getParseMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.ParseRequest,
              dev.snowlane.v1.ParseResponse>(
                service, METHODID_PARSE)))
        .addMethod(
          getGetIdRangeMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.GetIdRangeRequest,
              dev.snowlane.v1.GetIdRangeResponse>(
                service, METHODID_GET_ID_RANGE)))
        .addMethod(
          getGetInfoMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.GetInfoRequest,
              dev.snowlane.v1.GetInfoResponse>(
                service, METHODID_GET_INFO)))
        .build();
  }

  private static abstract class IdServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    IdServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.snowlane.v1.IdServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("IdService");
    }
  }

  private static final class IdServiceFileDescriptorSupplier
      extends IdServiceBaseDescriptorSupplier {
    IdServiceFileDescriptorSupplier() {}
  }

  private static final class IdServiceMethodDescriptorSupplier
      extends IdServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    IdServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (IdServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new IdServiceFileDescriptorSupplier())
              .addMethod(getNextIdMethod())
              .addMethod(getNextIdsMethod())
              .addMethod(getBatchNextIdsMethod())
              .addMethod(getReserveIdsMethod())
              .addMethod(getParseMethod())
              .addMethod(getGetIdRangeMethod())
              .addMethod(getGetInfoMethod())
              .build();
        }
      }
    }
    return result;
  }
}
