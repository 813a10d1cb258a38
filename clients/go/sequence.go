package snowlane

import (
	"context"
	"fmt"
	"iter"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// SequenceValue is one value of a sequence.
type SequenceValue struct {
	// Value is 1 to 2^63-1. It is unique within its sequence and PeriodKey.
	Value int64
	// Text is the value as the sequence's template writes it; empty if it has none.
	Text string
	// PeriodKey is the period of the value: "2026", "2026-11" or "2026-11-22"; empty if the sequence has none.
	PeriodKey string
}

// ValueRun is values in arithmetic progression: FirstValue + i*Increment, for i from 0 to Count-1.
type ValueRun struct {
	FirstValue int64
	// Count is at least 1.
	Count int
	// Increment is at least 1.
	Increment int64
}

// ReservedValues belong to the caller, used or not.
type ReservedValues struct {
	Runs []ValueRun
	// PeriodKey is the period of all of them; empty if the sequence has none.
	PeriodKey string
}

// Sequence is one sequence of the deployment: that of [Client.Sequence], and in tests that of snowlanetest.Client. Each
// call goes to a server: values are kept in stock there, and nowhere in the client. A value that was not received is a
// gap, and a retry gets another value.
//
// Every method may fail with SEQUENCE_NOT_FOUND, SEQUENCE_DISABLED, VALUES_EXHAUSTED, STORE_WENT_BACK, and with the
// errors of calls for IDs.
type Sequence interface {
	// Name returns the sequence's name.
	Name() string
	// NextValue takes one value.
	NextValue(ctx context.Context) (SequenceValue, error)
	// NextText takes one value and returns its text. It fails with INVALID_SEQUENCE if the sequence has no template;
	// the value is then a gap.
	NextText(ctx context.Context) (string, error)
	// NextValueFor takes one value of the period that the time is in, which may have ended at most the sequence's
	// late_max ago; else it fails with PERIOD_CLOSED. Only for periodic sequences.
	NextValueFor(ctx context.Context, at time.Time) (SequenceValue, error)
	// NextTextFor takes one value of the period that the time is in, and returns its text.
	NextTextFor(ctx context.Context, at time.Time) (string, error)
	// NextValues takes count values, 1 to 1,048,576, by a stream.
	NextValues(ctx context.Context, count int) ([]SequenceValue, error)
	// Stream takes count values, 1 to 10^9, in chunks: exactly that many, or an error as the last element. A stream
	// that breaks is continued by another, whose values may start lower, unless Ordered is set. Leaving the loop
	// cancels it.
	Stream(ctx context.Context, count int, options StreamOptions) iter.Seq2[[]SequenceValue, error]
	// Reserve reserves 1 to count values, at most 1,048,576, as runs; a server grants what it has without waiting.
	Reserve(ctx context.Context, count int) (ReservedValues, error)
}

// Sequence returns the sequence of that name. Nothing is sent: whether it exists shows when its first value is taken.
func (c *Client) Sequence(name string) Sequence {
	return &sequence{client: c, name: name}
}

// sequence is one whose values a client requests from its servers.
type sequence struct {
	client *Client
	name   string
}

func (s *sequence) Name() string {
	return s.name
}

func (s *sequence) NextValue(ctx context.Context) (SequenceValue, error) {
	return s.nextValue(ctx, &snowlanev1.NextValueRequest{Name: s.name})
}

func (s *sequence) NextValueFor(ctx context.Context, at time.Time) (SequenceValue, error) {
	return s.nextValue(ctx, &snowlanev1.NextValueRequest{Name: s.name, ForTime: timestamppb.New(at)})
}

func (s *sequence) nextValue(ctx context.Context, request *snowlanev1.NextValueRequest) (SequenceValue, error) {
	return call(ctx, s.client, "NextValue",
		func(ctx context.Context, channel *grpc.ClientConn, admit admitted) (SequenceValue, error) {
			response, err := snowlanev1.NewSequenceServiceClient(channel).NextValue(ctx, request)
			if err != nil {
				return SequenceValue{}, err
			}
			if err := admit.database(response.GetDatabase()); err != nil {
				return SequenceValue{}, err
			}
			value := SequenceValue{Value: response.GetValue(), Text: response.GetText(), PeriodKey: response.GetPeriodKey()}
			return value, checkValue(value.Value)
		})
}

func (s *sequence) NextText(ctx context.Context) (string, error) {
	return s.textOf(s.NextValue(ctx))
}

func (s *sequence) NextTextFor(ctx context.Context, at time.Time) (string, error) {
	return s.textOf(s.NextValueFor(ctx, at))
}

func (s *sequence) textOf(value SequenceValue, err error) (string, error) {
	if err != nil {
		return "", err
	}
	if value.Text != "" {
		return value.Text, nil
	}
	return "", &Error{
		Reason:  InvalidSequence,
		Code:    codes.InvalidArgument,
		Message: fmt.Sprintf("the sequence %s has no text template, so its values have no text; call NextValue instead", s.name),
		Metadata: map[string]string{
			"name": s.name, "value": fmt.Sprint(value.Value), "field": "text_template",
		},
	}
}

func (s *sequence) NextValues(ctx context.Context, count int) ([]SequenceValue, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.client.options.Timeout)
		defer cancel()
	}
	all := make([]SequenceValue, 0, count)
	for values, err := range s.Stream(ctx, count, StreamOptions{}) {
		if err != nil {
			return nil, err
		}
		all = append(all, values...)
	}
	return all, nil
}

func (s *sequence) Stream(ctx context.Context, count int, options StreamOptions) iter.Seq2[[]SequenceValue, error] {
	call := streamCall[SequenceValue]{client: s.client, method: "BatchNextValues", items: "values", options: options}
	call.open = func(ctx context.Context, channel *grpc.ClientConn, left int, admit admitted) (func() ([]SequenceValue, error), error) {
		request := &snowlanev1.BatchNextValuesRequest{Name: s.name, Count: uint64(left), ChunkSize: uint32(options.ChunkSize)}
		stream, err := snowlanev1.NewSequenceServiceClient(channel).BatchNextValues(ctx, request)
		return func() ([]SequenceValue, error) {
			response, err := stream.Recv()
			if err != nil {
				return nil, err
			}
			if err := admit.database(response.GetDatabase()); err != nil {
				return nil, err
			}
			return valuesOf(response)
		}, err
	}
	return call.read(ctx, count)
}

func (s *sequence) Reserve(ctx context.Context, count int) (ReservedValues, error) {
	if err := checkCount(count); err != nil {
		return ReservedValues{}, err
	}
	return call(ctx, s.client, "ReserveValues",
		func(ctx context.Context, channel *grpc.ClientConn, admit admitted) (ReservedValues, error) {
			request := &snowlanev1.ReserveValuesRequest{Name: s.name, Count: uint32(count)}
			response, err := snowlanev1.NewSequenceServiceClient(channel).ReserveValues(ctx, request)
			if err != nil {
				return ReservedValues{}, err
			}
			if err := admit.database(response.GetDatabase()); err != nil {
				return ReservedValues{}, err
			}
			return reservedOf(response, count)
		})
}

// reservedOf reads an answer, and checks it by the rules for runs of IDs.
func reservedOf(response *snowlanev1.ReserveValuesResponse, asked int) (ReservedValues, error) {
	reserved := ReservedValues{Runs: make([]ValueRun, len(response.GetRuns())), PeriodKey: response.GetPeriodKey()}
	asIDs := make([]Run, len(reserved.Runs))
	for index, run := range response.GetRuns() {
		reserved.Runs[index] = ValueRun{FirstValue: run.GetFirstValue(), Count: int(run.GetCount()), Increment: run.GetIncrement()}
		// A negative number is too large as an ID, and a negative increment leaves the range.
		asIDs[index] = Run{First: ID(run.GetFirstValue()), Count: int(run.GetCount()), Stride: uint64(run.GetIncrement())}
		if run.GetIncrement() < 1 {
			asIDs[index].Stride = 0
		}
	}
	_, err := countOfAnswer(asIDs, asked)
	return reserved, err
}

// valuesOf reads and checks a chunk: each value must be 1 to 2^63-1, and either all values have a text or none has.
// Values of several databases do not rise, so the order is not checked.
func valuesOf(response *snowlanev1.BatchNextValuesResponse) ([]SequenceValue, error) {
	texts := response.GetTexts()
	values := make([]SequenceValue, len(response.GetValues()))
	if len(texts) != 0 && len(texts) != len(values) {
		metadata := map[string]string{"count": fmt.Sprint(len(values)), "text_count": fmt.Sprint(len(texts))}
		return nil, invalidResponse("the server sent an impossible chunk", metadata)
	}
	for index, value := range response.GetValues() {
		if err := checkValue(value); err != nil {
			return nil, err
		}
		values[index] = SequenceValue{Value: value, PeriodKey: response.GetPeriodKey()}
		if len(texts) > 0 {
			values[index].Text = texts[index]
		}
	}
	return values, nil
}

// checkValue checks the lower end of a value's range; the upper end is that of its type.
func checkValue(value int64) error {
	if value >= 1 {
		return nil
	}
	return invalidResponse("the server sent a value below 1", map[string]string{"value": fmt.Sprint(value)})
}
