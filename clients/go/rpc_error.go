package snowlane

import (
	"context"
	"errors"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errorDomain is the domain of a google.rpc.ErrorInfo whose reasons are Snowlane's.
const errorDomain = "snowlane.dev"

var serverReasons = map[Reason]bool{
	CountOutOfRange: true, MalformedID: true, MalformedText: true, AmbiguousText: true, InvalidLayout: true, InvalidTextFormat: true,
	InvalidTimeRange: true, MissingCredentials: true, MethodDenied: true, HostNotAllowed: true, QuotaExceeded: true, ClockRolledBack: true,
	BurstExceeded: true, WorkerLeaseLost: true, WindowExpired: true, StoreUnavailable: true, ShuttingDown: true, StreamStalled: true,
	TimestampExhausted: true, ClockBeforeEpoch: true, NoFreeWorkerID: true, LayoutMismatch: true, StoreWentBack: true, InvalidConfig: true,
	SequenceNotFound: true, SequenceExists: true, SequenceDisabled: true, SequenceChanged: true, InvalidSequence: true, ValuesExhausted: true,
	PeriodClosed: true,
}

// errorOfRPC reads the error of an attempt that its caller did not cancel.
func errorOfRPC(err error, endpoint string) *Error {
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return &Error{Reason: DeadlineExceeded, Code: codes.DeadlineExceeded, Message: err.Error(), Endpoint: endpoint, cause: err}
	}
	answer, _ := status.FromError(err)
	failure := &Error{Code: answer.Code(), Message: answer.Message(), Endpoint: endpoint, cause: err}
	if failure.Message == "" {
		failure.Message = answer.Code().String()
	}
	for _, detail := range answer.Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			if detail.GetDomain() == errorDomain {
				failure.Reason = Reason(detail.GetReason())
				failure.Metadata = detail.GetMetadata()
			}
		case *errdetails.RetryInfo:
			failure.RetryAfter = max(0, detail.GetRetryDelay().AsDuration())
		}
	}
	switch {
	case serverReasons[failure.Reason]:
	case failure.Reason != "":
		metadata := map[string]string{"reason": string(failure.Reason)}
		for key, value := range failure.Metadata {
			metadata[key] = value
		}
		failure.Metadata = metadata
		failure.Reason = RPCFailed
	// The caller did not cancel: the server, or a proxy that is shutting down, has dropped the call.
	case failure.Code == codes.Unavailable || failure.Code == codes.Canceled:
		failure.Reason, failure.Code = Unreachable, codes.Unavailable
		describeUnreachable(failure)
	case failure.Code == codes.DeadlineExceeded:
		failure.Reason = DeadlineExceeded
	default:
		failure.Reason = RPCFailed
	}
	return failure
}

// reasonOfRPC returns the reason of an RPC's error, at any endpoint; empty for nil.
func reasonOfRPC(err error) Reason {
	switch {
	case err == nil:
		return ""
	case status.Code(err) == codes.Canceled:
		return Cancelled
	default:
		return errorOfRPC(err, "").Reason
	}
}

// describeUnreachable explains why there is no answer, without gRPC's wording.
func describeUnreachable(failure *Error) {
	if mistake := mistakeOf(failure.Message); mistake != nil {
		failure.Message = mistake.text
		failure.Metadata = map[string]string{"connection": mistake.kind}
		return
	}
	failure.isAnswer = failure.RetryAfter > 0 || !ofTransport.MatchString(failure.Message)
	if failure.isAnswer {
		failure.Message = "the server cannot answer now: " + failure.Message
	} else {
		failure.Message = "the server does not answer: " + failure.Message
	}
}
