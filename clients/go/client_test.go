package snowlane_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
	"snowlane.dev/go/snowlanetest"
)

func connect(t *testing.T, options snowlane.Options, servers ...*scriptedServer) *snowlane.Client {
	t.Helper()
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

func collect(client *snowlane.Client, ctx context.Context, count int, options snowlane.StreamOptions) ([]snowlane.ID, error) {
	var all []snowlane.ID
	for ids, err := range client.Stream(ctx, count, options) {
		if err != nil {
			return all, err
		}
		all = append(all, ids...)
	}
	return all, nil
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
	}
	for _, count := range []int{0, 1_000_000_001} {
		_, err := collect(client, ctx, count, snowlane.StreamOptions{})
		expectReason(t, err, snowlane.CountOutOfRange)
	}
	if calls := server.calls.Load(); calls != 0 {
		t.Errorf("%d calls", calls)
	}
}

func TestATokenGoesOutWithEachCall(t *testing.T) {
	server := startServer(t)
	var seen []string
	server.setNextID(func(ctx context.Context) (uint64, error) {
		incoming, _ := metadata.FromIncomingContext(ctx)
		seen = append(seen, incoming.Get("authorization")...)
		return 1, nil
	})
	client := connect(t, snowlane.Options{Token: snowlane.StaticToken("secret")}, server)
	if _, err := client.NextID(ctx); err != nil || !slices.Equal(seen, []string{"Bearer secret"}) {
		t.Errorf("%v %v", seen, err)
	}
}

func TestAnswersThatCannotBe(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	server.setNextID(func(context.Context) (uint64, error) { return 1 << 63, nil })
	server.reserve = func(uint32) ([]*snowlanev1.IdRun, error) { return nil, nil }
	server.batch = func(_ uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
		if err := stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{3, 4}}); err != nil {
			return err
		}
		return stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{4}})
	}
	_, err := client.NextID(ctx)
	expectReason(t, err, snowlane.InvalidResponse)
	_, err = client.NextIDs(ctx, 1)
	expectReason(t, err, snowlane.InvalidResponse)
	for _, count := range []int{1, 3, 4} {
		_, err = collect(client, ctx, count, snowlane.StreamOptions{})
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
	for _, code := range []codes.Code{codes.Unimplemented, codes.Internal, codes.Aborted, codes.Canceled, codes.DataLoss} {
		server.setNextID(func(context.Context) (uint64, error) { return 0, faultOf(code, "", 0, nil) })
		_, err = client.NextID(ctx)
		if !errors.As(err, &failure) || failure.Reason != snowlane.RPCFailed || failure.Code != code {
			t.Errorf("%v: %+v", code, failure)
		}
	}
}

func TestNobodyThereIsUnreachable(t *testing.T) {
	server := startServer(t)
	server.kill()
	_, err := connect(t, snowlane.Options{}, server).NextID(ctx)
	expectReason(t, err, snowlane.Unreachable)
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

func TestThreeRetriesAndNoMore(t *testing.T) {
	server := startServer(t)
	failures := 3
	server.setNextID(func(context.Context) (uint64, error) {
		if failures--; failures >= 0 {
			return 0, faultOf(codes.Unavailable, "", 0, nil)
		}
		return 7, nil
	})
	var attempts []snowlane.AttemptEvent
	observer := &snowlane.Observer{OnAttempt: func(event snowlane.AttemptEvent) { attempts = append(attempts, event) }}
	client := connect(t, snowlane.Options{Observer: observer}, server)
	if id, err := client.NextID(ctx); id != 7 || err != nil {
		t.Errorf("%d %v", id, err)
	}
	if len(attempts) != 4 || attempts[2].Reason != snowlane.Unreachable || attempts[3].Reason != "" || attempts[3].Attempt != 4 {
		t.Errorf("%+v", attempts)
	}
	server.setNextID(func(context.Context) (uint64, error) { return 0, faultOf(codes.Unavailable, "WINDOW_EXPIRED", 0, nil) })
	before := server.calls.Load()
	_, err := client.NextID(ctx)
	expectReason(t, err, snowlane.WindowExpired)
	if calls := server.calls.Load() - before; calls != 4 {
		t.Errorf("%d calls", calls)
	}
}

func TestAServerThatIsDownIsLeftForAnother(t *testing.T) {
	first, second := startServer(t), startServer(t)
	client := connect(t, snowlane.Options{}, first, second)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	used := first
	if second.calls.Load() > 0 {
		used = second
	}
	used.kill()
	if _, err := client.NextIDs(ctx, 10); err != nil {
		t.Error(err)
	}
	if first.calls.Load() == 0 || second.calls.Load() == 0 {
		t.Error("the other was not called")
	}
}

func TestAQuotaIsNotEvaded(t *testing.T) {
	first, second := startServer(t), startServer(t)
	var failures atomic.Int32
	nextID := func(context.Context) (uint64, error) {
		if failures.Add(1) == 1 {
			return 0, faultOf(codes.ResourceExhausted, "QUOTA_EXCEEDED", 40*time.Millisecond, nil)
		}
		return 7, nil
	}
	first.nextID, second.nextID = nextID, nextID
	startedAt := time.Now()
	if _, err := connect(t, snowlane.Options{}, first, second).NextID(ctx); err != nil {
		t.Error(err)
	}
	if first.calls.Load()*second.calls.Load() != 0 || time.Since(startedAt) < 40*time.Millisecond {
		t.Errorf("%d and %d calls in %v", first.calls.Load(), second.calls.Load(), time.Since(startedAt))
	}
}

func TestAWaitBeyondTheDeadlineIsNotBegun(t *testing.T) {
	server := startServer(t)
	server.setNextID(func(context.Context) (uint64, error) {
		return 0, faultOf(codes.Unavailable, "STORE_UNAVAILABLE", time.Minute, nil)
	})
	client := connect(t, snowlane.Options{}, server)
	for range 2 {
		_, err := client.NextID(ctx)
		expectReason(t, err, snowlane.StoreUnavailable)
	}
	if calls := server.calls.Load(); calls != 1 {
		t.Errorf("%d calls", calls)
	}
}

func TestAServerThatHangsIsLeftForAnother(t *testing.T) {
	first, second := startServer(t), startServer(t)
	var hung atomic.Pointer[scriptedServer]
	for _, server := range []*scriptedServer{first, second} {
		server.setNextID(func(ctx context.Context) (uint64, error) {
			hung.CompareAndSwap(nil, server)
			if hung.Load() == server {
				<-ctx.Done()
			}
			return 7, nil
		})
	}
	client := connect(t, snowlane.Options{AttemptTimeout: time.Second}, first, second)
	if id, err := client.NextID(ctx); id != 7 || err != nil {
		t.Errorf("%d %v", id, err)
	}
}

func TestAServerThatComesBackIsFound(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	buffer, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[snowlane.ID]bool{}
	for round := range 3 {
		for range 2_000 {
			id, err := buffer.NextID(ctx)
			if err != nil || seen[id] {
				t.Fatalf("round %d: %d %v", round, id, err)
			}
			seen[id] = true
		}
		server.kill()
		restarted := make(chan struct{})
		time.AfterFunc(150*time.Millisecond, func() { server.start(t); close(restarted) })
		if _, err := buffer.NextIDs(ctx, 100_000); err != nil {
			t.Error(err)
		}
		<-restarted
	}
}

func TestAStreamThatIsCutGoesOn(t *testing.T) {
	server := startServer(t)
	cuts := 6
	server.batch = func(count uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
		for range count {
			id := server.next.Add(1)
			if err := stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{id}}); err != nil {
				return err
			}
			if cuts > 0 && id%5 == 0 {
				cuts--
				return faultOf(codes.Unavailable, "CLOCK_ROLLED_BACK", 0, nil)
			}
		}
		return nil
	}
	ids, err := collect(connect(t, snowlane.Options{}, server), ctx, 100, snowlane.StreamOptions{})
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 100 || err != nil || cuts > 0 {
		t.Errorf("%d IDs, %v", len(ids), err)
	}
	cuts = 1
	ids, err = collect(connect(t, snowlane.Options{}, server), ctx, 100, snowlane.StreamOptions{Ordered: true})
	expectReason(t, err, snowlane.ClockRolledBack)
	if len(ids) == 0 || len(ids) > 5 {
		t.Errorf("%d IDs", len(ids))
	}
}

func TestAKilledServersStreamGoesOnElsewhere(t *testing.T) {
	first, second := startServer(t), startServer(t)
	second.next.Store(1_000_000_000)
	client := connect(t, snowlane.Options{}, first, second)
	var all []snowlane.ID
	killed := false
	for ids, err := range client.Stream(ctx, 1_000_000, snowlane.StreamOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, ids...)
		if !killed && len(all) > 200_000 {
			killed = true
			if first.calls.Load() > 0 {
				first.kill()
			} else {
				second.kill()
			}
		}
	}
	slices.Sort(all)
	if len(all) != 1_000_000 || len(slices.Compact(all)) != 1_000_000 {
		t.Errorf("%d IDs", len(all))
	}
	if first.calls.Load()*second.calls.Load() == 0 {
		t.Error("one server served all")
	}
}

func TestLeavingTheLoopCancelsTheStream(t *testing.T) {
	server := startServer(t)
	ended := make(chan struct{})
	server.batch = func(_ uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
		_ = stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{1}})
		<-stream.Context().Done()
		close(ended)
		return nil
	}
	for range connect(t, snowlane.Options{}, server).Stream(ctx, 10, snowlane.StreamOptions{}) {
		break
	}
	<-ended
}

func TestAChunkThatDoesNotCome(t *testing.T) {
	server := startServer(t)
	server.batch = func(_ uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
		_ = stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{1}})
		<-stream.Context().Done()
		return nil
	}
	client := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries, AttemptTimeout: 50 * time.Millisecond}, server)
	_, err := collect(client, ctx, 2, snowlane.StreamOptions{})
	expectReason(t, err, snowlane.DeadlineExceeded)
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = collect(client, short, 2, snowlane.StreamOptions{})
	expectReason(t, err, snowlane.DeadlineExceeded)
}

func TestAReaderMayTakeLongerThanTheTimeoutOfTheClient(t *testing.T) {
	server := startServer(t)
	isDone := make(chan struct{})
	server.batch = func(_ uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
		err := stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{1}})
		// Not before the reader has waited for a while.
		time.Sleep(50 * time.Millisecond)
		return errors.Join(err, stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{2}}))
	}
	clock := &snowlanetest.Clock{}
	client := connect(t, snowlane.Options{Clock: clock}, server)
	count := 0
	for _, err := range client.Stream(ctx, 2, snowlane.StreamOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		count++
		clock.Advance(10 * time.Minute)
		if count > 1 {
			continue
		}
		go func() {
			for {
				select {
				case <-isDone:
					return
				case <-time.After(time.Millisecond):
					clock.Advance(0)
				}
			}
		}()
	}
	close(isDone)
	if count != 2 {
		t.Errorf("%d chunks", count)
	}
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
	if calls := server.calls.Load(); calls != 1 {
		t.Errorf("%d calls", calls)
	}
	server.info = &snowlanev1.GetInfoResponse{}
	_, err := connect(t, snowlane.Options{}, server).Layout(ctx)
	expectReason(t, err, snowlane.InvalidResponse)
}

func TestOptionsThatAreWrong(t *testing.T) {
	token := snowlane.StaticToken("t")
	for _, options := range []snowlane.Options{
		{Endpoints: []string{}},
		{Endpoints: []string{"ftp://a"}},
		{Endpoints: []string{"http://"}},
		{Endpoints: []string{"a:80"}},
		{Endpoints: []string{"http://u:p@a"}},
		{Endpoints: []string{"http://a/path"}},
		{RetryMax: 4},
		{Timeout: -1},
		{Token: token, Endpoints: []string{"http://example.com"}},
	} {
		if client, err := snowlane.NewClient(options); err == nil {
			t.Errorf("%+v is accepted", options)
			client.Close()
		}
	}
	for _, options := range []snowlane.Options{
		{},
		{Token: token, Endpoints: []string{"http://example.com"}, InsecureToken: true},
		{Token: token, Endpoints: []string{"https://example.com", "http://[::1]:1", "http://localhost", "http://127.9.9.9"}},
	} {
		client, err := snowlane.NewClient(options)
		if err != nil {
			t.Error(err)
			continue
		}
		client.Close()
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
