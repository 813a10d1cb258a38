import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues, type Interceptor, type Transport } from "@connectrpc/connect";
import { runStreamingCall, runUnaryCall } from "@connectrpc/connect/protocol";

/** A transport whose calls go through interceptors. Without any, it is the transport itself. */
export function intercepted(transport: Transport, url: string, interceptors: readonly Interceptor[]): Transport {
  if (interceptors.length === 0) return transport;
  const requestOf = (method: DescMethod, header: Parameters<Transport["unary"]>[3]) => ({
    service: method.parent,
    requestMethod: "POST",
    url: `${url}/${method.parent.typeName}/${method.name}`,
    header: new Headers(header),
  });
  return {
    unary: (method, signal, timeoutMs, header, message, contextValues = createContextValues()) =>
      runUnaryCall({
        req: { stream: false, method, message, contextValues, ...requestOf(method, header) },
        interceptors: [...interceptors],
        ...(signal && { signal }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        next: (request) => transport.unary(method, request.signal, timeoutMs, request.header, request.message),
      }),
    stream: (method, signal, timeoutMs, header, message, contextValues = createContextValues()) =>
      runStreamingCall({
        req: { stream: true, method, message, contextValues, ...requestOf(method, header) },
        interceptors: [...interceptors],
        ...(signal && { signal }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        next: (request) => transport.stream(method, request.signal, timeoutMs, request.header, request.message),
      }),
  };
}
