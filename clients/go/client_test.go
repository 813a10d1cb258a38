package snowlane_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// connect makes a client that is patient unless the options say otherwise, so that only tests of time are about time.
func connect(t *testing.T, options snowlane.Options, servers ...*scriptedServer) *snowlane.Client {
	t.Helper()
	if options.Timeout == 0 {
		options.Timeout = time.Minute
	}
	for _, server := range servers {
		options.Endpoints = append(options.Endpoints, server.url())
	}
	client, err := snowlane.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client
}

var ctx = context.Background()

const big = 1<<62 + 1

func TestIDsAbove53BitsComeOutWhole(t *testing.T) {
	server := startServer(t)
	server.next.Store(big)
	client := connect(t, snowlane.Options{}, server)
	if id, err := client.NextID(ctx); id != big+1 || err != nil {
		t.Errorf("%d %v", id, err)
	}
	if ids, err := client.NextIDs(ctx, 3); !slices.Equal(ids, []snowlane.ID{big + 2, big + 3, big + 4}) || err != nil {
		t.Errorf("%d %v", ids, err)
	}
	if ids, err := collect(client, ctx, 3, snowlane.StreamOptions{ChunkSize: 2}); !slices.Equal(ids, []snowlane.ID{big + 5, big + 6, big + 7}) || err != nil {
		t.Errorf("%d %v", ids, err)
	}
}

func TestNextIDsGoesOnUntilItHasAll(t *testing.T) {
	server := startServer(t)
	next := uint64(0)
	server.reserve = func(uint32) ([]*snowlanev1.IdRun, error) {
		next += 10
		return []*snowlanev1.IdRun{{FirstId: next, Count: 2, Stride: 3}}, nil
	}
	ids, err := connect(t, snowlane.Options{}, server).NextIDs(ctx, 4)
	if want := []snowlane.ID{10, 13, 20, 23}; !slices.Equal(ids, want) || err != nil {
		t.Errorf("%d %v", ids, err)
	}
}

func TestClientCountsOutOfRange(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	for _, count := range []int{0, -1, 1_048_577} {
		_, err := client.NextIDs(ctx, count)
		expectReason(t, err, snowlane.CountOutOfRange)
		_, err = client.Reserve(ctx, count)
		expectReason(t, err, snowlane.CountOutOfRange)
		if namesStream := strings.Contains(err.Error(), "use Stream for more"); namesStream != (count > 0) {
			t.Error(err)
		}
	}
	for _, count := range []int{0, 1_000_000_001} {
		_, err := collect(client, ctx, count, snowlane.StreamOptions{})
		expectReason(t, err, snowlane.CountOutOfRange)
		if _, err = client.NextIDs(ctx, count); strings.Contains(err.Error(), "Stream") {
			t.Error(err)
		}
	}
	if calls := server.calls.Load(); calls != 0 {
		t.Errorf("%d calls", calls)
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	for _, id := range []uint64{0, 1 << 63} {
		server.setNextID(func(context.Context) (uint64, error) { return id, nil })
		_, err := client.NextID(ctx)
		expectReason(t, err, snowlane.InvalidResponse)
	}
	for _, runs := range [][]*snowlanev1.IdRun{{}, {{Count: 1, Stride: 1}}, {{FirstId: 1, Count: 3, Stride: 1}, {FirstId: 3, Count: 3, Stride: 1}}} {
		server.reserve = func(uint32) ([]*snowlanev1.IdRun, error) { return runs, nil }
		_, err := client.NextIDs(ctx, 100)
		expectReason(t, err, snowlane.InvalidResponse)
	}
	if calls := server.calls.Load(); calls != 5 {
		t.Errorf("%d calls: such an answer is not asked for again", calls)
	}
}

func TestWhatAnErrorCarries(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries}, server)
	server.setNextID(func(context.Context) (uint64, error) {
		return 0, faultOf(codes.ResourceExhausted, "QUOTA_EXCEEDED", 1250*time.Millisecond, map[string]string{"principal": "a"})
	})
	_, err := client.NextID(ctx)
	var failure *snowlane.Error
	if !errors.As(err, &failure) {
		t.Fatal(err)
	}
	if failure.Reason != snowlane.QuotaExceeded || failure.Code != codes.ResourceExhausted || failure.Endpoint != server.url() ||
		failure.RetryAfter != 1250*time.Millisecond || !maps.Equal(failure.Metadata, map[string]string{"principal": "a"}) {
		t.Errorf("%+v", failure)
	}
	server.setNextID(func(context.Context) (uint64, error) {
		return 0, faultOf(codes.FailedPrecondition, "NOT_YET_KNOWN", 0, nil)
	})
	_, err = client.NextID(ctx)
	if !errors.As(err, &failure) || failure.Reason != snowlane.RPCFailed || failure.Metadata["reason"] != "NOT_YET_KNOWN" {
		t.Errorf("%+v", failure)
	}
	for _, code := range []codes.Code{codes.Unimplemented, codes.Internal, codes.Aborted, codes.DataLoss} {
		server.setNextID(func(context.Context) (uint64, error) { return 0, faultOf(code, "", 0, nil) })
		_, err = client.NextID(ctx)
		if !errors.As(err, &failure) || failure.Reason != snowlane.RPCFailed || failure.Code != code {
			t.Errorf("%v: %+v", code, failure)
		}
	}
}

func TestTheTextOfAStatusWithoutATextIsItsCode(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries}, server)
	for code, text := range map[codes.Code]string{
		codes.PermissionDenied: "RPC_FAILED: PermissionDenied",
		codes.Unavailable:      "UNREACHABLE: the server cannot answer now: Unavailable",
	} {
		server.setNextID(func(context.Context) (uint64, error) { return 0, status.Error(code, "") })
		if _, err := client.NextID(ctx); err == nil || err.Error() != text+" ("+server.url()+")" {
			t.Error(err)
		}
	}
}

func TestTheDeadlineOfACallIsKept(t *testing.T) {
	server := startServer(t)
	server.setNextID(func(ctx context.Context) (uint64, error) { <-ctx.Done(); return 0, ctx.Err() })
	client := connect(t, snowlane.Options{AttemptTimeout: 30 * time.Millisecond, Timeout: 100 * time.Millisecond}, server)
	_, err := client.NextID(ctx)
	expectReason(t, err, snowlane.DeadlineExceeded)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = client.NextID(short)
	expectReason(t, err, snowlane.DeadlineExceeded)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not context.DeadlineExceeded", err)
	}
}

func TestACallerWhoCancels(t *testing.T) {
	server := startServer(t)
	server.setNextID(func(ctx context.Context) (uint64, error) { <-ctx.Done(); return 0, ctx.Err() })
	client := connect(t, snowlane.Options{}, server)
	cancelled := func() context.Context {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(30*time.Millisecond, cancel)
		return ctx
	}
	_, err := client.NextID(cancelled())
	expectReason(t, err, snowlane.Cancelled)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
	server.setNextID(func(context.Context) (uint64, error) {
		return 0, faultOf(codes.Unavailable, "STORE_UNAVAILABLE", 3*time.Second, nil)
	})
	_, err = client.NextID(cancelled())
	expectReason(t, err, snowlane.Cancelled)
}

func TestClosingEndsTheCallsUnderWay(t *testing.T) {
	server := startServer(t)
	server.setNextID(func(ctx context.Context) (uint64, error) { <-ctx.Done(); return 0, ctx.Err() })
	client := connect(t, snowlane.Options{}, server)
	buffer, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan error)
	go func() { _, err := client.NextID(ctx); results <- err }()
	go func() { _, err := collect(client, ctx, 1_000_000_000, snowlane.StreamOptions{}); results <- err }()
	eventually(t, "two calls", func() bool { return server.calls.Load() == 2 })
	client.Close()
	expectReason(t, <-results, snowlane.ClientClosed)
	expectReason(t, <-results, snowlane.ClientClosed)
	_, err = client.NextID(ctx)
	expectReason(t, err, snowlane.ClientClosed)
	_, err = buffer.NextID(ctx)
	expectReason(t, err, snowlane.ClientClosed)
	_, err = client.Prefetch(snowlane.BufferOptions{})
	expectReason(t, err, snowlane.ClientClosed)
}

func TestTheLayoutIsAskedForOnce(t *testing.T) {
	server := startServer(t)
	server.info = &snowlanev1.GetInfoResponse{Layout: &snowlanev1.Layout{
		Name: "custom", EpochTime: timestamppb.New(time.UnixMilli(1_600_000_000_000)), Tick: durationpb.New(time.Millisecond),
		Fields: []*snowlanev1.LayoutField{
			{Kind: snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_TIMESTAMP, Bits: 41},
			{Kind: snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_WORKER, Bits: 10},
			{Kind: snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_SEQUENCE, Bits: 12},
		},
	}}
	client := connect(t, snowlane.Options{}, server)
	for range 2 {
		layout, err := client.Layout(ctx)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := layout.Parse(5<<22 | 6<<12 | 7)
		if err != nil || parsed.Ticks != 5 || parsed.WorkerID != 6 || parsed.Sequence != 7 || parsed.DatacenterID != -1 {
			t.Errorf("%+v %v", parsed, err)
		}
	}
	if calls := server.infoCalls.Load(); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	server.info = &snowlanev1.GetInfoResponse{}
	_, err := connect(t, snowlane.Options{}, server).Layout(ctx)
	expectReason(t, err, snowlane.InvalidResponse)
}

func TestInfoSaysWhatAServerIs(t *testing.T) {
	server := startServer(t)
	end := time.Unix(4_000_000_000, 0).UTC()
	server.info = &snowlanev1.GetInfoResponse{
		Layout: &snowlanev1.Layout{
			Name: "custom", EpochTime: timestamppb.New(time.UnixMilli(0)), Tick: durationpb.New(time.Millisecond),
			Fields: []*snowlanev1.LayoutField{{Kind: snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_TIMESTAMP, Bits: 41}},
		},
		Version: "1.2.3", WorkerId: 7, ExhaustionTime: timestamppb.New(end),
		RollbackPolicy: snowlanev1.RollbackPolicy_ROLLBACK_POLICY_REUSE,
		Ordering:       snowlanev1.Ordering_ORDERING_UNORDERED_WITHIN_REUSE_SPAN,
		Limits:         &snowlanev1.Limits{ReserveCountMax: 9, BatchCountMax: 5_000_000_000, ChunkSizeMax: 8, NextCountMax: 6},
	}
	info, err := connect(t, snowlane.Options{}, server).Info(ctx)
	if err != nil || info.Layout.Name() != "custom" || !info.ExhaustionTime.Equal(end) {
		t.Fatalf("%+v %v", info, err)
	}
	found := *info
	found.Layout, found.ExhaustionTime = nil, time.Time{}
	want := snowlane.ServerInfo{
		Version: "1.2.3", WorkerID: 7, RollbackPolicy: "reuse", Ordering: "unordered-within-reuse-span",
		ReserveCountMax: 9, BatchCountMax: 5_000_000_000, ChunkSizeMax: 8, NextCountMax: 6,
	}
	if found != want {
		t.Errorf("%+v", found)
	}
}

func TestAClientForgetsBuffersThatWereClosed(t *testing.T) {
	client, err := snowlane.NewClient(snowlane.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 1_000 {
		buffer, err := client.Prefetch(snowlane.BufferOptions{})
		if err != nil {
			t.Fatal(err)
		}
		buffer.Close()
	}
	last, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if count := client.BufferCount(); count != 1 {
		t.Errorf("it keeps %d buffers", count)
	}
	client.Close()
	client.Close()
	_, err = last.NextID(ctx)
	expectReason(t, err, snowlane.ClientClosed)
	if count := client.BufferCount(); count != 0 {
		t.Errorf("closed, it keeps %d buffers", count)
	}
}
