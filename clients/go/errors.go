package snowlane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/grpc/codes"
)

// Reason says why a call failed. The server's reasons are explained in its documentation of errors.
type Reason string

// Reasons that come from the server.
const (
	CountOutOfRange    Reason = "COUNT_OUT_OF_RANGE"
	MalformedID        Reason = "MALFORMED_ID"
	MalformedText      Reason = "MALFORMED_TEXT"
	AmbiguousText      Reason = "AMBIGUOUS_TEXT"
	InvalidLayout      Reason = "INVALID_LAYOUT"
	InvalidTextFormat  Reason = "INVALID_TEXT_FORMAT"
	InvalidTimeRange   Reason = "INVALID_TIME_RANGE"
	MissingCredentials Reason = "MISSING_CREDENTIALS"
	MethodDenied       Reason = "METHOD_DENIED"
	HostNotAllowed     Reason = "HOST_NOT_ALLOWED"
	QuotaExceeded      Reason = "QUOTA_EXCEEDED"
	ClockRolledBack    Reason = "CLOCK_ROLLED_BACK"
	BurstExceeded      Reason = "BURST_EXCEEDED"
	WorkerLeaseLost    Reason = "WORKER_LEASE_LOST"
	WindowExpired      Reason = "WINDOW_EXPIRED"
	StoreUnavailable   Reason = "STORE_UNAVAILABLE"
	ShuttingDown       Reason = "SHUTTING_DOWN"
	StreamStalled      Reason = "STREAM_STALLED"
	TimestampExhausted Reason = "TIMESTAMP_EXHAUSTED"
	ClockBeforeEpoch   Reason = "CLOCK_BEFORE_EPOCH"
	StoreWentBack      Reason = "STORE_WENT_BACK"
	SequenceNotFound   Reason = "SEQUENCE_NOT_FOUND"
	SequenceExists     Reason = "SEQUENCE_EXISTS"
	SequenceDisabled   Reason = "SEQUENCE_DISABLED"
	SequenceChanged    Reason = "SEQUENCE_CHANGED"
	InvalidSequence    Reason = "INVALID_SEQUENCE"
	ValuesExhausted    Reason = "VALUES_EXHAUSTED"
	PeriodClosed       Reason = "PERIOD_CLOSED"
	// The reasons below are shown to the operator when a server starts, and are never sent.
	NoFreeWorkerID Reason = "NO_FREE_WORKER_ID"
	LayoutMismatch Reason = "LAYOUT_MISMATCH"
	InvalidConfig  Reason = "INVALID_CONFIG"
)

// Reasons that come from the client itself.
const (
	// Unreachable: no answer from any endpoint that was tried, or UNAVAILABLE without a reason.
	Unreachable Reason = "UNREACHABLE"
	// DeadlineExceeded: the deadline passed, and no attempt had failed otherwise.
	DeadlineExceeded Reason = "DEADLINE_EXCEEDED"
	// DeploymentMismatch: the endpoints serve two deployments, whose IDs can be equal.
	DeploymentMismatch Reason = "DEPLOYMENT_MISMATCH"
	// Cancelled: the caller's context was cancelled.
	Cancelled Reason = "CANCELLED"
	// ClientClosed: the client or the buffer is closed.
	ClientClosed Reason = "CLIENT_CLOSED"
	// InvalidResponse: the server's answer breaks its contract; it was dropped whole.
	InvalidResponse Reason = "INVALID_RESPONSE"
	// RPCFailed: any other status that has no Snowlane reason, or one that this client does not know.
	RPCFailed Reason = "RPC_FAILED"
	// ScriptEnded: a fake's script has no more steps.
	ScriptEnded Reason = "SCRIPT_ENDED"
)

// Error is the one error of this package. Match on Reason, never on the message:
//
//	var failure *snowlane.Error
//	if errors.As(err, &failure) && failure.Reason == snowlane.QuotaExceeded { ... }
type Error struct {
	Reason Reason
	// Code is the gRPC status code. docs/adr/0224 says why it has no type of this package.
	Code    codes.Code
	Message string
	// Metadata is what the server said in addition to the reason; keys carry units.
	Metadata map[string]string
	// RetryAfter is how long to wait before a retry may help; 0 if a retry cannot help, or no server named a time.
	RetryAfter time.Duration
	// Endpoint is the one that was asked last; empty if none was.
	Endpoint string
	cause    error
	// isAnswer is set if the reason is UNREACHABLE although a server answered.
	isAnswer bool
}

// Error returns "REASON: text (endpoint)", without the parentheses if no endpoint was asked.
func (e *Error) Error() string {
	if e.Endpoint == "" {
		return fmt.Sprintf("%s: %s", e.Reason, e.Message)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Reason, e.Message, e.Endpoint)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error {
	return e.cause
}

// Is makes CANCELLED match context.Canceled and DEADLINE_EXCEEDED match context.DeadlineExceeded, wherever the error
// came from.
func (e *Error) Is(target error) bool {
	return (e.Reason == Cancelled && target == context.Canceled) ||
		(e.Reason == DeadlineExceeded && target == context.DeadlineExceeded)
}

// Passes reports whether waiting can help: the same call may succeed later although no one changes anything.
func (e *Error) Passes() bool {
	switch e.Code {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition, codes.Unimplemented:
		return false
	default:
		return !isFirstMistake(e)
	}
}

// atEndOf returns the same error joined with the error of the context with which its call ended: errors.Is finds both.
func (e *Error) atEndOf(ctx context.Context) *Error {
	if ctx.Err() == nil || errors.Is(e, ctx.Err()) {
		return e
	}
	ended := *e
	ended.cause = errors.Join(e.cause, ctx.Err())
	return &ended
}

// ReasonOf returns the reason of an error of this package, RPC_FAILED for any other error, and an empty reason for nil.
func ReasonOf(err error) Reason {
	if err == nil {
		return ""
	}
	return asError(err).Reason
}

func asError(err error) *Error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure
	}
	return &Error{Reason: RPCFailed, Code: codes.Unknown, Message: err.Error(), cause: err}
}

func closedError(what string) *Error {
	return &Error{Reason: ClientClosed, Code: codes.Canceled, Message: "the " + what + " is closed"}
}

// isAbsence reports whether no Snowlane server is where the client looks, or none that speaks as the client expects:
// only another option, or starting a server, can help. A closed connection is not such a sign, because a balancer
// without a server closes its connections, too.
func isAbsence(failure *Error) bool {
	kind := ""
	if failure != nil {
		kind = failure.Metadata["connection"]
	}
	return kind != "" && kind != connectionClosed
}

// isFirstMistake reports whether an error is one that neverAnswered returned.
func isFirstMistake(failure *Error) bool {
	return failure.Metadata["answered"] == "never"
}

// neverAnswered returns the error of a call that failed before any server ever answered, because there is no server at
// any endpoint.
func neverAnswered(failure *Error) *Error {
	mistake := *failure
	if kind := failure.Metadata["connection"]; kind == connectionRefused || kind == connectionNoAddress {
		mistake.Message += "; start a server there (snowlane serve), or correct the endpoints: none has answered this client yet"
	}
	mistake.Metadata = maps.Clone(failure.Metadata)
	mistake.Metadata["answered"] = "never"
	return &mistake
}

func invalidResponse(message string, metadata map[string]string) *Error {
	return &Error{Reason: InvalidResponse, Code: codes.Internal, Message: message, Metadata: metadata}
}

// contextError returns the error of a context that has ended; lastFailure, if there is one, explains more than a
// deadline does.
func contextError(ctx context.Context, lastFailure *Error) *Error {
	cause := ctx.Err()
	if errors.Is(cause, context.Canceled) {
		return &Error{Reason: Cancelled, Code: codes.Canceled, Message: "the caller cancelled", cause: cause}
	}
	if lastFailure != nil {
		return lastFailure.atEndOf(ctx)
	}
	return &Error{Reason: DeadlineExceeded, Code: codes.DeadlineExceeded, Message: "no answer came in time", cause: cause}
}

// checkCount checks the count of a call that is not a stream.
func checkCount(count int) error {
	err := checkRange("count", count, 1, nextIDsMax)
	if err == nil {
		return nil
	}
	if count > nextIDsMax && count <= streamMax {
		err.Message += "; use Stream for more"
	}
	return err
}

// checkRange checks a caller's number against its range, as the server does; name is the name of the field.
func checkRange(name string, value, least, most int) *Error {
	if value >= least && value <= most {
		return nil
	}
	return &Error{
		Reason:   CountOutOfRange,
		Code:     codes.InvalidArgument,
		Message:  fmt.Sprintf("%s is %d; it must be from %d to %d", name, value, least, most),
		Metadata: map[string]string{name: fmt.Sprint(value), name + "_max": fmt.Sprint(most)},
	}
}
