package snowlane_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
	"snowlane.dev/go/snowlanetest"
)

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
	isDone, isWaiting := make(chan struct{}), make(chan struct{})
	server.batch = func(_ uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
		err := stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: []uint64{1}})
		<-isWaiting
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
			for said := false; ; {
				select {
				case <-isDone:
					return
				case <-time.After(time.Millisecond):
					clock.Advance(0)
					if !said {
						close(isWaiting)
						said = true
					}
				}
			}
		}()
	}
	close(isDone)
	if count != 2 {
		t.Errorf("%d chunks", count)
	}
}

func TestChunksThatCannotBe(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	bad := [][][]uint64{
		{}, {{}}, {{3, 4}}, {{3, 4, 5, 6}}, {{3, 4}, {4}}, {{0, 1, 2}}, {{5, 5, 5}}, {{3, 2, 4}}, {{1, 1 << 63, 3}}, {{1, 2, 1 << 63}},
	}
	for _, chunks := range bad {
		server.batch = func(_ uint64, stream grpc.ServerStreamingServer[snowlanev1.BatchNextIdsResponse]) error {
			for _, ids := range chunks {
				if err := stream.Send(&snowlanev1.BatchNextIdsResponse{Ids: ids}); err != nil {
					return err
				}
			}
			return nil
		}
		before := server.calls.Load()
		if ids, err := collect(client, ctx, 3, snowlane.StreamOptions{}); snowlane.ReasonOf(err) != snowlane.InvalidResponse {
			t.Errorf("%v: %v %v", chunks, ids, err)
		}
		if calls := server.calls.Load() - before; calls != 1 {
			t.Errorf("%d calls: such an answer is not asked for again", calls)
		}
	}
}

func TestChunkSizesOutOfRange(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	for _, size := range []int{-1, 65_537, 1 << 32, math.MinInt} {
		_, err := collect(client, ctx, 3, snowlane.StreamOptions{ChunkSize: size})
		var failure *snowlane.Error
		if !errors.As(err, &failure) || failure.Reason != snowlane.CountOutOfRange || failure.Code != codes.InvalidArgument ||
			!maps.Equal(failure.Metadata, map[string]string{"chunk_size": fmt.Sprint(size), "chunk_size_max": "65536"}) {
			t.Errorf("%d: %+v", size, err)
		}
	}
	if calls := server.calls.Load(); calls != 0 {
		t.Errorf("%d calls", calls)
	}
}

func TestStreamsThatPauseHoldUpNoCallAndShareConnections(t *testing.T) {
	server := startServer(t)
	link := startLink(t, server)
	client := connect(t, snowlane.Options{Endpoints: []string{link.url()}})
	release, reading := make(chan struct{}), sync.WaitGroup{}
	const streams = 100
	paused := make(chan error, streams)
	for range streams {
		reading.Add(1)
		go func() {
			defer reading.Done()
			isFirst := true
			for _, err := range client.Stream(ctx, 10, snowlane.StreamOptions{ChunkSize: 5}) {
				if err != nil || isFirst {
					paused <- err
				}
				if isFirst = false; err == nil {
					<-release
				}
			}
		}()
	}
	for range streams {
		if err := <-paused; err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		if _, err := client.NextID(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if accepted := link.accepted.Load(); accepted != 3 {
		t.Errorf("%d connections: two for 100 streams and one for calls are enough", accepted)
	}
	close(release)
	reading.Wait()
}
