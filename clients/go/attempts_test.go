package snowlane_test

import (
	"context"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

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
	observer := &snowlane.ClientObserver{OnAttempt: func(event snowlane.AttemptEvent) { attempts = append(attempts, event) }}
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

func TestAWaitBeyondTheDeadlineIsNotBegun(t *testing.T) {
	server := startServer(t)
	server.setNextID(func(context.Context) (uint64, error) {
		return 0, faultOf(codes.Unavailable, "STORE_UNAVAILABLE", time.Minute, nil)
	})
	// Of a delay that a server says, 1 s counts, and up to half as much is laid on it.
	client := connect(t, snowlane.Options{Timeout: 1400 * time.Millisecond, Random: func() float64 { return 0.99 }}, server)
	for range 2 {
		_, err := client.NextID(ctx)
		expectReason(t, err, snowlane.StoreUnavailable)
	}
	if calls := server.calls.Load(); calls != 1 {
		t.Errorf("%d calls", calls)
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

// The first attempt takes longer than maxAge, by the clock of the client: the client cannot know that the second
// attempt's IDs are younger.
func TestARetriedReservationIsAsOldAsItsFirstAttempt(t *testing.T) {
	const maxAge = time.Minute
	server := startServer(t)
	clock := &hastyClock{}
	hasFailed := false
	server.reserve = func(count uint32) ([]*snowlanev1.IdRun, error) {
		if !hasFailed {
			hasFailed = true
			clock.ahead.Add(int64(maxAge))
			return nil, faultOf(codes.Unavailable, "", 0, nil)
		}
		first := server.next.Add(uint64(count)) - uint64(count) + 1
		return []*snowlanev1.IdRun{{FirstId: first, Count: count, Stride: 1}}, nil
	}
	client := connect(t, snowlane.Options{Timeout: time.Hour, AttemptTimeout: 10 * time.Minute, Clock: clock, Random: func() float64 { return 0 }}, server)
	buffer, err := client.Prefetch(snowlane.BufferOptions{MaxAge: maxAge, CountMin: 32, CountMax: 32})
	if err != nil {
		t.Fatal(err)
	}
	if id := mustNext(t, buffer); id != 33 {
		t.Errorf("got %d, want 33, the first ID of the second answer", id)
	}
	if stats := buffer.Stats(); stats.RefillFailures != 1 || stats.Refills != 1 {
		t.Errorf("%+v", stats)
	}
}
