package dev.snowlane.v1;

import static io.grpc.MethodDescriptor.generateFullMethodName;

/**
 * <pre>
 * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
 * </pre>
 */
@io.grpc.stub.annotations.GrpcGenerated
public final class AdminServiceGrpc {

  private AdminServiceGrpc() {}

  public static final java.lang.String SERVICE_NAME = "snowlane.v1.AdminService";

  // Static method descriptors that strictly reflect the proto.
  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.ListWorkersRequest,
      dev.snowlane.v1.ListWorkersResponse> getListWorkersMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ListWorkers",
      requestType = dev.snowlane.v1.ListWorkersRequest.class,
      responseType = dev.snowlane.v1.ListWorkersResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.ListWorkersRequest,
      dev.snowlane.v1.ListWorkersResponse> getListWorkersMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.ListWorkersRequest, dev.snowlane.v1.ListWorkersResponse> getListWorkersMethod;
    if ((getListWorkersMethod = AdminServiceGrpc.getListWorkersMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getListWorkersMethod = AdminServiceGrpc.getListWorkersMethod) == null) {
          AdminServiceGrpc.getListWorkersMethod = getListWorkersMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.ListWorkersRequest, dev.snowlane.v1.ListWorkersResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ListWorkers"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ListWorkersRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ListWorkersResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("ListWorkers"))
              .build();
        }
      }
    }
    return getListWorkersMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.GetStatusRequest,
      dev.snowlane.v1.GetStatusResponse> getGetStatusMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "GetStatus",
      requestType = dev.snowlane.v1.GetStatusRequest.class,
      responseType = dev.snowlane.v1.GetStatusResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.GetStatusRequest,
      dev.snowlane.v1.GetStatusResponse> getGetStatusMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.GetStatusRequest, dev.snowlane.v1.GetStatusResponse> getGetStatusMethod;
    if ((getGetStatusMethod = AdminServiceGrpc.getGetStatusMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getGetStatusMethod = AdminServiceGrpc.getGetStatusMethod) == null) {
          AdminServiceGrpc.getGetStatusMethod = getGetStatusMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.GetStatusRequest, dev.snowlane.v1.GetStatusResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "GetStatus"))
              .setSafe(true)
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetStatusRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.GetStatusResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("GetStatus"))
              .build();
        }
      }
    }
    return getGetStatusMethod;
  }

  private static volatile io.grpc.MethodDescriptor<dev.snowlane.v1.ClaimPastRequest,
      dev.snowlane.v1.ClaimPastResponse> getClaimPastMethod;

  @io.grpc.stub.annotations.RpcMethod(
      fullMethodName = SERVICE_NAME + '/' + "ClaimPast",
      requestType = dev.snowlane.v1.ClaimPastRequest.class,
      responseType = dev.snowlane.v1.ClaimPastResponse.class,
      methodType = io.grpc.MethodDescriptor.MethodType.UNARY)
  public static io.grpc.MethodDescriptor<dev.snowlane.v1.ClaimPastRequest,
      dev.snowlane.v1.ClaimPastResponse> getClaimPastMethod() {
    io.grpc.MethodDescriptor<dev.snowlane.v1.ClaimPastRequest, dev.snowlane.v1.ClaimPastResponse> getClaimPastMethod;
    if ((getClaimPastMethod = AdminServiceGrpc.getClaimPastMethod) == null) {
      synchronized (AdminServiceGrpc.class) {
        if ((getClaimPastMethod = AdminServiceGrpc.getClaimPastMethod) == null) {
          AdminServiceGrpc.getClaimPastMethod = getClaimPastMethod =
              io.grpc.MethodDescriptor.<dev.snowlane.v1.ClaimPastRequest, dev.snowlane.v1.ClaimPastResponse>newBuilder()
              .setType(io.grpc.MethodDescriptor.MethodType.UNARY)
              .setFullMethodName(generateFullMethodName(SERVICE_NAME, "ClaimPast"))
              .setSampledToLocalTracing(true)
              .setRequestMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ClaimPastRequest.getDefaultInstance()))
              .setResponseMarshaller(io.grpc.protobuf.ProtoUtils.marshaller(
                  dev.snowlane.v1.ClaimPastResponse.getDefaultInstance()))
              .setSchemaDescriptor(new AdminServiceMethodDescriptorSupplier("ClaimPast"))
              .build();
        }
      }
    }
    return getClaimPastMethod;
  }

  /**
   * Creates a new async stub that supports all call types for the service
   */
  public static AdminServiceStub newStub(io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceStub>() {
        @java.lang.Override
        public AdminServiceStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceStub(channel, callOptions);
        }
      };
    return AdminServiceStub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports all types of calls on the service
   */
  public static AdminServiceBlockingV2Stub newBlockingV2Stub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingV2Stub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingV2Stub>() {
        @java.lang.Override
        public AdminServiceBlockingV2Stub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceBlockingV2Stub(channel, callOptions);
        }
      };
    return AdminServiceBlockingV2Stub.newStub(factory, channel);
  }

  /**
   * Creates a new blocking-style stub that supports unary and streaming output calls on the service
   */
  public static AdminServiceBlockingStub newBlockingStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceBlockingStub>() {
        @java.lang.Override
        public AdminServiceBlockingStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceBlockingStub(channel, callOptions);
        }
      };
    return AdminServiceBlockingStub.newStub(factory, channel);
  }

  /**
   * Creates a new ListenableFuture-style stub that supports unary calls on the service
   */
  public static AdminServiceFutureStub newFutureStub(
      io.grpc.Channel channel) {
    io.grpc.stub.AbstractStub.StubFactory<AdminServiceFutureStub> factory =
      new io.grpc.stub.AbstractStub.StubFactory<AdminServiceFutureStub>() {
        @java.lang.Override
        public AdminServiceFutureStub newStub(io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
          return new AdminServiceFutureStub(channel, callOptions);
        }
      };
    return AdminServiceFutureStub.newStub(factory, channel);
  }

  /**
   * <pre>
   * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public interface AsyncService {

    /**
     * <pre>
     * Lists the worker IDs that were ever held in the server's namespace, by rising datacenter and worker ID, as their records in the store
     * say. Worker IDs that nobody ever held have no record and are not listed. No side effects. Answers may be a second old: calls share one
     * look at the store. Each page is a look of its own, so a worker ID that changes meanwhile shows as it was on its page.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE (retry after RetryInfo).
     * </pre>
     */
    default void listWorkers(dev.snowlane.v1.ListWorkersRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ListWorkersResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getListWorkersMethod(), responseObserver);
    }

    /**
     * <pre>
     * Tells how the server that answers is doing, and what it did in each of the last seconds. No side effects, and no call to the store. It
     * answers without a worker ID, too. Several servers behind one address answer in turn: start_time tells them apart.
     * Raises no errors of its own.
     * </pre>
     */
    default void getStatus(dev.snowlane.v1.GetStatusRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetStatusResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getGetStatusMethod(), responseObserver);
    }

    /**
     * <pre>
     * Claims a piece of the past: from then on the IDs of that time and of the worker IDs in the response belong to the caller, who makes them
     * by itself. Not idempotent: each call claims other worker IDs, and a claim whose answer was lost is a gap. UNIMPLEMENTED unless the
     * server's operator said since when every ID comes from its store.
     * Errors: INVALID_TIME_RANGE (empty, before the epoch, in the future, or before the time that the operator named), COUNT_OUT_OF_RANGE
     * (lane_count), MALFORMED_TEXT (reason); NO_FREE_WORKER_ID, STORE_WENT_BACK, TIMESTAMP_EXHAUSTED; STORE_UNAVAILABLE (retry after
     * RetryInfo).
     * </pre>
     */
    default void claimPast(dev.snowlane.v1.ClaimPastRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ClaimPastResponse> responseObserver) {
      io.grpc.stub.ServerCalls.asyncUnimplementedUnaryCall(getClaimPastMethod(), responseObserver);
    }
  }

  /**
   * Base class for the server implementation of the service AdminService.
   * <pre>
   * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static abstract class AdminServiceImplBase
      implements io.grpc.BindableService, AsyncService {

    @java.lang.Override public final io.grpc.ServerServiceDefinition bindService() {
      return AdminServiceGrpc.bindService(this);
    }
  }

  /**
   * A stub to allow clients to do asynchronous rpc calls to service AdminService.
   * <pre>
   * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class AdminServiceStub
      extends io.grpc.stub.AbstractAsyncStub<AdminServiceStub> {
    private AdminServiceStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the worker IDs that were ever held in the server's namespace, by rising datacenter and worker ID, as their records in the store
     * say. Worker IDs that nobody ever held have no record and are not listed. No side effects. Answers may be a second old: calls share one
     * look at the store. Each page is a look of its own, so a worker ID that changes meanwhile shows as it was on its page.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE (retry after RetryInfo).
     * </pre>
     */
    public void listWorkers(dev.snowlane.v1.ListWorkersRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ListWorkersResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getListWorkersMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Tells how the server that answers is doing, and what it did in each of the last seconds. No side effects, and no call to the store. It
     * answers without a worker ID, too. Several servers behind one address answer in turn: start_time tells them apart.
     * Raises no errors of its own.
     * </pre>
     */
    public void getStatus(dev.snowlane.v1.GetStatusRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.GetStatusResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getGetStatusMethod(), getCallOptions()), request, responseObserver);
    }

    /**
     * <pre>
     * Claims a piece of the past: from then on the IDs of that time and of the worker IDs in the response belong to the caller, who makes them
     * by itself. Not idempotent: each call claims other worker IDs, and a claim whose answer was lost is a gap. UNIMPLEMENTED unless the
     * server's operator said since when every ID comes from its store.
     * Errors: INVALID_TIME_RANGE (empty, before the epoch, in the future, or before the time that the operator named), COUNT_OUT_OF_RANGE
     * (lane_count), MALFORMED_TEXT (reason); NO_FREE_WORKER_ID, STORE_WENT_BACK, TIMESTAMP_EXHAUSTED; STORE_UNAVAILABLE (retry after
     * RetryInfo).
     * </pre>
     */
    public void claimPast(dev.snowlane.v1.ClaimPastRequest request,
        io.grpc.stub.StreamObserver<dev.snowlane.v1.ClaimPastResponse> responseObserver) {
      io.grpc.stub.ClientCalls.asyncUnaryCall(
          getChannel().newCall(getClaimPastMethod(), getCallOptions()), request, responseObserver);
    }
  }

  /**
   * A stub to allow clients to do synchronous rpc calls to service AdminService.
   * <pre>
   * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class AdminServiceBlockingV2Stub
      extends io.grpc.stub.AbstractBlockingStub<AdminServiceBlockingV2Stub> {
    private AdminServiceBlockingV2Stub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceBlockingV2Stub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceBlockingV2Stub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the worker IDs that were ever held in the server's namespace, by rising datacenter and worker ID, as their records in the store
     * say. Worker IDs that nobody ever held have no record and are not listed. No side effects. Answers may be a second old: calls share one
     * look at the store. Each page is a look of its own, so a worker ID that changes meanwhile shows as it was on its page.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE (retry after RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.ListWorkersResponse listWorkers(dev.snowlane.v1.ListWorkersRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getListWorkersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells how the server that answers is doing, and what it did in each of the last seconds. No side effects, and no call to the store. It
     * answers without a worker ID, too. Several servers behind one address answer in turn: start_time tells them apart.
     * Raises no errors of its own.
     * </pre>
     */
    public dev.snowlane.v1.GetStatusResponse getStatus(dev.snowlane.v1.GetStatusRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getGetStatusMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Claims a piece of the past: from then on the IDs of that time and of the worker IDs in the response belong to the caller, who makes them
     * by itself. Not idempotent: each call claims other worker IDs, and a claim whose answer was lost is a gap. UNIMPLEMENTED unless the
     * server's operator said since when every ID comes from its store.
     * Errors: INVALID_TIME_RANGE (empty, before the epoch, in the future, or before the time that the operator named), COUNT_OUT_OF_RANGE
     * (lane_count), MALFORMED_TEXT (reason); NO_FREE_WORKER_ID, STORE_WENT_BACK, TIMESTAMP_EXHAUSTED; STORE_UNAVAILABLE (retry after
     * RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.ClaimPastResponse claimPast(dev.snowlane.v1.ClaimPastRequest request) throws io.grpc.StatusException {
      return io.grpc.stub.ClientCalls.blockingV2UnaryCall(
          getChannel(), getClaimPastMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do limited synchronous rpc calls to service AdminService.
   * <pre>
   * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class AdminServiceBlockingStub
      extends io.grpc.stub.AbstractBlockingStub<AdminServiceBlockingStub> {
    private AdminServiceBlockingStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceBlockingStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceBlockingStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the worker IDs that were ever held in the server's namespace, by rising datacenter and worker ID, as their records in the store
     * say. Worker IDs that nobody ever held have no record and are not listed. No side effects. Answers may be a second old: calls share one
     * look at the store. Each page is a look of its own, so a worker ID that changes meanwhile shows as it was on its page.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE (retry after RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.ListWorkersResponse listWorkers(dev.snowlane.v1.ListWorkersRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getListWorkersMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Tells how the server that answers is doing, and what it did in each of the last seconds. No side effects, and no call to the store. It
     * answers without a worker ID, too. Several servers behind one address answer in turn: start_time tells them apart.
     * Raises no errors of its own.
     * </pre>
     */
    public dev.snowlane.v1.GetStatusResponse getStatus(dev.snowlane.v1.GetStatusRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getGetStatusMethod(), getCallOptions(), request);
    }

    /**
     * <pre>
     * Claims a piece of the past: from then on the IDs of that time and of the worker IDs in the response belong to the caller, who makes them
     * by itself. Not idempotent: each call claims other worker IDs, and a claim whose answer was lost is a gap. UNIMPLEMENTED unless the
     * server's operator said since when every ID comes from its store.
     * Errors: INVALID_TIME_RANGE (empty, before the epoch, in the future, or before the time that the operator named), COUNT_OUT_OF_RANGE
     * (lane_count), MALFORMED_TEXT (reason); NO_FREE_WORKER_ID, STORE_WENT_BACK, TIMESTAMP_EXHAUSTED; STORE_UNAVAILABLE (retry after
     * RetryInfo).
     * </pre>
     */
    public dev.snowlane.v1.ClaimPastResponse claimPast(dev.snowlane.v1.ClaimPastRequest request) {
      return io.grpc.stub.ClientCalls.blockingUnaryCall(
          getChannel(), getClaimPastMethod(), getCallOptions(), request);
    }
  }

  /**
   * A stub to allow clients to do ListenableFuture-style rpc calls to service AdminService.
   * <pre>
   * Shows operators what a deployment is doing, and claims the past for rows that exist already. Errors carry google.rpc.ErrorInfo with a reason of ErrorReason.
   * </pre>
   */
  public static final class AdminServiceFutureStub
      extends io.grpc.stub.AbstractFutureStub<AdminServiceFutureStub> {
    private AdminServiceFutureStub(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      super(channel, callOptions);
    }

    @java.lang.Override
    protected AdminServiceFutureStub build(
        io.grpc.Channel channel, io.grpc.CallOptions callOptions) {
      return new AdminServiceFutureStub(channel, callOptions);
    }

    /**
     * <pre>
     * Lists the worker IDs that were ever held in the server's namespace, by rising datacenter and worker ID, as their records in the store
     * say. Worker IDs that nobody ever held have no record and are not listed. No side effects. Answers may be a second old: calls share one
     * look at the store. Each page is a look of its own, so a worker ID that changes meanwhile shows as it was on its page.
     * Errors: MALFORMED_TEXT (a page token that no response of this method carried); STORE_UNAVAILABLE (retry after RetryInfo).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.ListWorkersResponse> listWorkers(
        dev.snowlane.v1.ListWorkersRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getListWorkersMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Tells how the server that answers is doing, and what it did in each of the last seconds. No side effects, and no call to the store. It
     * answers without a worker ID, too. Several servers behind one address answer in turn: start_time tells them apart.
     * Raises no errors of its own.
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.GetStatusResponse> getStatus(
        dev.snowlane.v1.GetStatusRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getGetStatusMethod(), getCallOptions()), request);
    }

    /**
     * <pre>
     * Claims a piece of the past: from then on the IDs of that time and of the worker IDs in the response belong to the caller, who makes them
     * by itself. Not idempotent: each call claims other worker IDs, and a claim whose answer was lost is a gap. UNIMPLEMENTED unless the
     * server's operator said since when every ID comes from its store.
     * Errors: INVALID_TIME_RANGE (empty, before the epoch, in the future, or before the time that the operator named), COUNT_OUT_OF_RANGE
     * (lane_count), MALFORMED_TEXT (reason); NO_FREE_WORKER_ID, STORE_WENT_BACK, TIMESTAMP_EXHAUSTED; STORE_UNAVAILABLE (retry after
     * RetryInfo).
     * </pre>
     */
    public com.google.common.util.concurrent.ListenableFuture<dev.snowlane.v1.ClaimPastResponse> claimPast(
        dev.snowlane.v1.ClaimPastRequest request) {
      return io.grpc.stub.ClientCalls.futureUnaryCall(
          getChannel().newCall(getClaimPastMethod(), getCallOptions()), request);
    }
  }

  private static final int METHODID_LIST_WORKERS = 0;
  private static final int METHODID_GET_STATUS = 1;
  private static final int METHODID_CLAIM_PAST = 2;

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
        case METHODID_LIST_WORKERS:
          serviceImpl.listWorkers((dev.snowlane.v1.ListWorkersRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.ListWorkersResponse>) responseObserver);
          break;
        case METHODID_GET_STATUS:
          serviceImpl.getStatus((dev.snowlane.v1.GetStatusRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.GetStatusResponse>) responseObserver);
          break;
        case METHODID_CLAIM_PAST:
          serviceImpl.claimPast((dev.snowlane.v1.ClaimPastRequest) request,
              (io.grpc.stub.StreamObserver<dev.snowlane.v1.ClaimPastResponse>) responseObserver);
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
          getListWorkersMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.ListWorkersRequest,
              dev.snowlane.v1.ListWorkersResponse>(
                service, METHODID_LIST_WORKERS)))
        .addMethod(
          getGetStatusMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.GetStatusRequest,
              dev.snowlane.v1.GetStatusResponse>(
                service, METHODID_GET_STATUS)))
        .addMethod(
          getClaimPastMethod(),
          io.grpc.stub.ServerCalls.asyncUnaryCall(
            new MethodHandlers<
              dev.snowlane.v1.ClaimPastRequest,
              dev.snowlane.v1.ClaimPastResponse>(
                service, METHODID_CLAIM_PAST)))
        .build();
  }

  private static abstract class AdminServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoFileDescriptorSupplier, io.grpc.protobuf.ProtoServiceDescriptorSupplier {
    AdminServiceBaseDescriptorSupplier() {}

    @java.lang.Override
    public com.google.protobuf.Descriptors.FileDescriptor getFileDescriptor() {
      return dev.snowlane.v1.AdminServiceOuterClass.getDescriptor();
    }

    @java.lang.Override
    public com.google.protobuf.Descriptors.ServiceDescriptor getServiceDescriptor() {
      return getFileDescriptor().findServiceByName("AdminService");
    }
  }

  private static final class AdminServiceFileDescriptorSupplier
      extends AdminServiceBaseDescriptorSupplier {
    AdminServiceFileDescriptorSupplier() {}
  }

  private static final class AdminServiceMethodDescriptorSupplier
      extends AdminServiceBaseDescriptorSupplier
      implements io.grpc.protobuf.ProtoMethodDescriptorSupplier {
    private final java.lang.String methodName;

    AdminServiceMethodDescriptorSupplier(java.lang.String methodName) {
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
      synchronized (AdminServiceGrpc.class) {
        result = serviceDescriptor;
        if (result == null) {
          serviceDescriptor = result = io.grpc.ServiceDescriptor.newBuilder(SERVICE_NAME)
              .setSchemaDescriptor(new AdminServiceFileDescriptorSupplier())
              .addMethod(getListWorkersMethod())
              .addMethod(getGetStatusMethod())
              .addMethod(getClaimPastMethod())
              .build();
        }
      }
    }
    return result;
  }
}
