package snowlane_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

type valueStream = grpc.ServerStreamingServer[snowlanev1.BatchNextValuesResponse]

// scriptedSequences does what a test has set.
type scriptedSequences struct {
	snowlanev1.UnimplementedSequenceServiceServer
	next    func(ctx context.Context, request *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error)
	reserve func(request *snowlanev1.ReserveValuesRequest) (*snowlanev1.ReserveValuesResponse, error)
	batch   func(request *snowlanev1.BatchNextValuesRequest, stream valueStream) error
}

func (s *scriptedSequences) NextValue(
	ctx context.Context, request *snowlanev1.NextValueRequest,
) (*snowlanev1.NextValueResponse, error) {
	return s.next(ctx, request)
}

func (s *scriptedSequences) ReserveValues(
	_ context.Context, request *snowlanev1.ReserveValuesRequest,
) (*snowlanev1.ReserveValuesResponse, error) {
	return s.reserve(request)
}

func (s *scriptedSequences) BatchNextValues(request *snowlanev1.BatchNextValuesRequest, stream valueStream) error {
	return s.batch(request, stream)
}

// sendChunks sends these chunks and ends.
func sendChunks(chunks ...*snowlanev1.BatchNextValuesResponse) func(*snowlanev1.BatchNextValuesRequest, valueStream) error {
	return func(_ *snowlanev1.BatchNextValuesRequest, stream valueStream) error {
		for _, chunk := range chunks {
			if err := stream.Send(chunk); err != nil {
				return err
			}
		}
		return nil
	}
}

func TestAValueOfAnotherTimesPeriodIsAskedForByThatTime(t *testing.T) {
	server := startServer(t)
	var times []*timestamppb.Timestamp
	server.sequences.next = func(_ context.Context, request *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		times = append(times, request.GetForTime())
		return &snowlanev1.NextValueResponse{Value: 1, Text: "a"}, nil
	}
	orders, at := connect(t, snowlane.Options{}, server).Sequence("orders"), time.Unix(1_774_000_000, 5)
	_, ofValue := orders.NextValueFor(ctx, at)
	text, ofText := orders.NextTextFor(ctx, at)
	_, ofNow := orders.NextValue(ctx)
	if err := errors.Join(ofValue, ofText, ofNow); err != nil || text != "a" {
		t.Error(text, err)
	}
	if len(times) != 3 || !times[0].AsTime().Equal(at) || !times[1].AsTime().Equal(at) || times[2] != nil {
		t.Error(times)
	}
}

func TestValuesUpToTheLastArriveExactly(t *testing.T) {
	server := startServer(t)
	const last = math.MaxInt64
	var names []string
	server.sequences.next = func(_ context.Context, request *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		names = append(names, request.GetName())
		return &snowlanev1.NextValueResponse{Value: last, Text: "a", PeriodKey: "2026"}, nil
	}
	server.sequences.reserve = func(request *snowlanev1.ReserveValuesRequest) (*snowlanev1.ReserveValuesResponse, error) {
		names = append(names, request.GetName())
		run := &snowlanev1.ValueRun{FirstValue: last - 4, Count: 3, Increment: 2}
		return &snowlanev1.ReserveValuesResponse{Runs: []*snowlanev1.ValueRun{run}, PeriodKey: "2026"}, nil
	}
	server.sequences.batch = sendChunks(
		&snowlanev1.BatchNextValuesResponse{Values: []int64{1 << 53, 1<<53 + 1}, Texts: []string{"x", "y"}, PeriodKey: "2026"},
		&snowlanev1.BatchNextValuesResponse{Values: []int64{last}, PeriodKey: "2027"},
	)
	orders := connect(t, snowlane.Options{}, server).Sequence("orders")
	if value, err := orders.NextValue(ctx); value != (snowlane.SequenceValue{Value: last, Text: "a", PeriodKey: "2026"}) || err != nil {
		t.Error(value, err)
	}
	if text, err := orders.NextText(ctx); text != "a" || err != nil {
		t.Error(text, err)
	}
	reserved, err := orders.Reserve(ctx, 7)
	if want := (snowlane.ValueRun{FirstValue: last - 4, Count: 3, Increment: 2}); err != nil ||
		!slices.Equal(reserved.Runs, []snowlane.ValueRun{want}) || reserved.PeriodKey != "2026" {
		t.Error(reserved, err)
	}
	values, err := orders.NextValues(ctx, 3)
	if want := []snowlane.SequenceValue{
		{Value: 1 << 53, Text: "x", PeriodKey: "2026"}, {Value: 1<<53 + 1, Text: "y", PeriodKey: "2026"}, {Value: last, PeriodKey: "2027"},
	}; !slices.Equal(values, want) || err != nil {
		t.Error(values, err)
	}
	if !slices.Equal(names, []string{"orders", "orders", "orders"}) {
		t.Error(names)
	}
}

func TestOnlyAnUnavailableServerOfSequencesIsLeft(t *testing.T) {
	server := startServer(t)
	calls := 0
	server.sequences.next = func(context.Context, *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		calls++
		if calls == 1 {
			return nil, faultOf(codes.Unavailable, "STORE_UNAVAILABLE", time.Millisecond, nil)
		}
		return &snowlanev1.NextValueResponse{Value: 8}, nil
	}
	orders := connect(t, snowlane.Options{}, server).Sequence("orders")
	if value, err := orders.NextValue(ctx); value.Value != 8 || calls != 2 || err != nil {
		t.Error(value, calls, err)
	}
	server.sequences.next = func(context.Context, *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		calls++
		return nil, faultOf(codes.NotFound, "SEQUENCE_NOT_FOUND", 0, map[string]string{"name": "orders"})
	}
	_, err := orders.NextValue(ctx)
	expectReason(t, err, snowlane.SequenceNotFound)
	if calls != 3 {
		t.Error(calls)
	}
}

func TestAStreamOfValuesThatBreaksIsTakenUpForTheRest(t *testing.T) {
	server := startServer(t)
	var asked []uint64
	server.sequences.batch = func(request *snowlanev1.BatchNextValuesRequest, stream valueStream) error {
		asked = append(asked, request.GetCount())
		if err := stream.Send(&snowlanev1.BatchNextValuesResponse{Values: []int64{int64(len(asked))}}); err != nil {
			return err
		}
		return faultOf(codes.Unavailable, "STORE_UNAVAILABLE", 0, nil)
	}
	orders := connect(t, snowlane.Options{}, server).Sequence("orders")
	values, err := orders.NextValues(ctx, 3)
	if len(values) != 3 || values[2].Value != 3 || !slices.Equal(asked, []uint64{3, 2, 1}) || err != nil {
		t.Error(values, asked, err)
	}
	count := 0
	for values, err := range orders.Stream(ctx, 3, snowlane.StreamOptions{Ordered: true}) {
		if count++; count == 1 && len(values) == 1 && err == nil {
			continue
		}
		expectReason(t, err, snowlane.StoreUnavailable)
	}
	if count != 2 {
		t.Error(count)
	}
}

func TestLeavingAStreamOfValuesCancelsIt(t *testing.T) {
	server := startServer(t)
	ended := make(chan struct{})
	server.sequences.batch = func(_ *snowlanev1.BatchNextValuesRequest, stream valueStream) error {
		defer close(ended)
		for value := int64(1); ; value++ {
			if err := stream.Send(&snowlanev1.BatchNextValuesResponse{Values: []int64{value}}); err != nil {
				return err
			}
		}
	}
	server.sequences.next = func(ctx context.Context, _ *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	orders := connect(t, snowlane.Options{}, server).Sequence("orders")
	for values, err := range orders.Stream(ctx, 1_000_000, snowlane.StreamOptions{}) {
		if len(values) != 1 || err != nil {
			t.Error(values, err)
		}
		break
	}
	<-ended
	cancelled, cancel := context.WithCancel(ctx)
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := orders.NextValue(cancelled); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if _, err := orders.NextValue(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestAnAnswerOfASequenceThatCannotBeIsRefused(t *testing.T) {
	server := startServer(t)
	orders := connect(t, snowlane.Options{}, server).Sequence("orders")
	for _, value := range []int64{0, -1} {
		server.sequences.next = func(context.Context, *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
			return &snowlanev1.NextValueResponse{Value: value}, nil
		}
		_, err := orders.NextValue(ctx)
		expectReason(t, err, snowlane.InvalidResponse)
	}
	for _, runs := range [][]*snowlanev1.ValueRun{
		{},
		{{FirstValue: 5, Count: 6, Increment: 1}},
		{{FirstValue: 5, Count: 2, Increment: 1}, {FirstValue: 6, Count: 1, Increment: 1}},
		{{FirstValue: 5, Count: 2, Increment: 0}},
		{{FirstValue: 5, Count: 2, Increment: -1}},
		{{FirstValue: -5, Count: 1, Increment: 1}},
		{{FirstValue: math.MaxInt64, Count: 2, Increment: 1}},
	} {
		server.sequences.reserve = func(*snowlanev1.ReserveValuesRequest) (*snowlanev1.ReserveValuesResponse, error) {
			return &snowlanev1.ReserveValuesResponse{Runs: runs}, nil
		}
		_, err := orders.Reserve(ctx, 5)
		expectReason(t, err, snowlane.InvalidResponse)
	}
	for _, chunk := range []*snowlanev1.BatchNextValuesResponse{
		{}, {Values: []int64{1}}, {Values: []int64{1, 2, 3}}, {Values: []int64{1, 0}}, {Values: []int64{1, 2}, Texts: []string{"1"}},
	} {
		server.sequences.batch = sendChunks(chunk)
		_, err := orders.NextValues(ctx, 2)
		expectReason(t, err, snowlane.InvalidResponse)
	}
}

func TestASequenceWithoutATemplateHasNoTextAndBadCountsSendNothing(t *testing.T) {
	server := startServer(t)
	server.sequences.next = func(context.Context, *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		return &snowlanev1.NextValueResponse{Value: 4}, nil
	}
	orders := connect(t, snowlane.Options{}, server).Sequence("orders")
	_, err := orders.NextText(ctx)
	var failure *snowlane.Error
	if !errors.As(err, &failure) || failure.Reason != snowlane.InvalidSequence || failure.Metadata["value"] != "4" {
		t.Error(err)
	}
	_, err = orders.NextValues(ctx, 0)
	expectReason(t, err, snowlane.CountOutOfRange)
	_, err = orders.Reserve(ctx, 1_048_577)
	expectReason(t, err, snowlane.CountOutOfRange)
	for _, err := range orders.Stream(ctx, 1, snowlane.StreamOptions{ChunkSize: 65_537}) {
		expectReason(t, err, snowlane.CountOutOfRange)
	}
}
