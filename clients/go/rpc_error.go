package snowlane

import (
	"context"
	"errors"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// errorDomain says of a google.rpc.ErrorInfo whose reasons these are.
const errorDomain = "snowlane.dev"

var serverReasons = map[Reason]bool{
	CountOutOfRange: true, MalformedID: true, MalformedText: true, AmbiguousText: true, InvalidLayout: true, InvalidTextFormat: true,
	InvalidTimeRange: true, MissingCredentials: true, MethodDenied: true, HostNotAllowed: true, QuotaExceeded: true, ClockRolledBack: true,
	BurstExceeded: true, WorkerLeaseLost: true, WindowExpired: true, StoreUnavailable: true, ShuttingDown: true, StreamStalled: true,
	TimestampExhausted: true, ClockBeforeEpoch: true, NoFreeWorkerID: true, LayoutMismatch: true, StoreWentBack: true, InvalidConfig: true,
	SequenceNotFound: true, SequenceExists: true, SequenceDisabled: true, SequenceChanged: true, InvalidSequence: true, ValuesExhausted: true,
	PeriodClosed: true,
}

// errorOfRPC reads what an attempt failed with.
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
	case failure.Code == codes.Unavailable:
		failure.Reason = Unreachable
		describeUnreachable(failure)
	case failure.Code == codes.DeadlineExceeded:
		failure.Reason = DeadlineExceeded
	default:
		failure.Reason = RPCFailed
	}
	return failure
}

// reasonOfRPC gives the reason of what an RPC failed with, at whatever endpoint; empty for nil.
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

// describeUnreachable says in our words that no server is there. gRPC tells it in its message alone.
func describeUnreachable(failure *Error) {
	is := func(text string) bool { return strings.Contains(failure.Message, text) }
	switch {
	case is("connection refused"), is("actively refused"):
		failure.Message = "the connection is refused: no server listens there"
		failure.Metadata = map[string]string{"connection": "refused"}
	case is("connect: no such file or directory"):
		failure.Message = "there is no such socket: no server listens there"
		failure.Metadata = map[string]string{"connection": "refused"}
	case is("name resolver error"), is("no such host"), is("record lookup error"):
		failure.Message = "the host name has no address"
		failure.Metadata = map[string]string{"connection": "no_address"}
	default:
		failure.Message = "the server does not answer: " + failure.Message
	}
}
