package snowlane

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"google.golang.org/grpc/codes"
)

// Reason says why a call failed. Those of the server are explained in its documentation of errors.
type Reason string

// Reasons that the server gives.
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
	// Those below are seen by the operator when a server starts, and never sent.
	NoFreeWorkerID Reason = "NO_FREE_WORKER_ID"
	LayoutMismatch Reason = "LAYOUT_MISMATCH"
	InvalidConfig  Reason = "INVALID_CONFIG"
)

// Reasons that the client finds by itself.
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
	// InvalidResponse: the server sent what cannot be; it was dropped whole.
	InvalidResponse Reason = "INVALID_RESPONSE"
	// RPCFailed: any other status without a reason of ours, or with one that this client does not know.
	RPCFailed Reason = "RPC_FAILED"
	// ScriptEnded: a fake was asked for more than its script says.
	ScriptEnded Reason = "SCRIPT_ENDED"
)

// Error is the one error of this package. Match on Reason, never on the message:
//
//	var failure *snowlane.Error
//	if errors.As(err, &failure) && failure.Reason == snowlane.QuotaExceeded { ... }
type Error struct {
	Reason Reason
	// Code is gRPC's: docs/adr/0224 says why it is no type of this package.
	Code    codes.Code
	Message string
	// Metadata is what the server said beside the reason; keys carry units.
	Metadata map[string]string
	// RetryAfter is how long to wait before a retry may help; 0 where it cannot, or nobody knows.
	RetryAfter time.Duration
	// Endpoint is the one that was asked last; empty if none was.
	Endpoint string
	cause    error
	// isAnswer: UNREACHABLE, but a server said so.
	isAnswer bool
}

// Error gives "REASON: text (endpoint)", without the brackets where no endpoint was asked.
func (e *Error) Error() string {
	if e.Endpoint == "" {
		return fmt.Sprintf("%s: %s", e.Reason, e.Message)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Reason, e.Message, e.Endpoint)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error {
	return e.cause
}

// Is tells that CANCELLED is context.Canceled, and DEADLINE_EXCEEDED context.DeadlineExceeded, wherever they were
// found.
func (e *Error) Is(target error) bool {
	return (e.Reason == Cancelled && target == context.Canceled) ||
		(e.Reason == DeadlineExceeded && target == context.DeadlineExceeded)
}

// Passes tells that waiting can cure it: the same call may succeed later, with nobody doing anything about it.
func (e *Error) Passes() bool {
	switch e.Code {
	case codes.InvalidArgument, codes.Unauthenticated, codes.PermissionDenied, codes.FailedPrecondition, codes.Unimplemented:
		return false
	default:
		return !isFirstMistake(e)
	}
}

// atEndOf is the same error, and the error of the context with which its call ended: errors.Is finds both.
func (e *Error) atEndOf(ctx context.Context) *Error {
	if ctx.Err() == nil || errors.Is(e, ctx.Err()) {
		return e
	}
	ended := *e
	ended.cause = errors.Join(e.cause, ctx.Err())
	return &ended
}

// ReasonOf gives the reason of an error of this package, and RPC_FAILED for any other; empty for nil.
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

// isAbsence tells that no server of ours is where the client looks, or not in the way in which it looks: nothing but
// another option or a server that is started can help. A connection that was closed may be a balancer's without a
// server.
func isAbsence(failure *Error) bool {
	kind := ""
	if failure != nil {
		kind = failure.Metadata["connection"]
	}
	return kind != "" && kind != connectionClosed
}

// isFirstMistake tells whether an error is that of neverAnswered.
func isFirstMistake(failure *Error) bool {
	return failure.Metadata["answered"] == "never"
}

// neverAnswered gives the error of a call before the first answer ever, where a server is at none of the endpoints.
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

// contextError gives the error of a context that has ended; lastFailure, if there is one, says more than a deadline
// does.
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

// checkCount holds the count of a call that is not a stream to its range.
func checkCount(count int) error {
	err := checkRange("count", count, 1, nextIDsMax)
	if err == nil {
		return nil
	}
	if count > nextIDsMax {
		err.Message += "; use Stream for more"
	}
	return err
}

// checkRange holds a number of a caller to its range, as the server does: name is that of the field.
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
