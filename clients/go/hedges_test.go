package snowlane_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// hold lets a server's reservations wait for as long as the test lasts, from now on; it returns their count.
func hold(t *testing.T, server *scriptedServer) *atomic.Int64 {
	t.Helper()
	over := make(chan struct{})
	held := &atomic.Int64{}
	server.setReserve(func(uint32) ([]*snowlanev1.IdRun, error) {
		held.Add(1)
		<-over
		return nil, nil
	})
	t.Cleanup(func() { close(over) })
	return held
}

func TestARefillWithoutAnAnswerIsSentToAnotherServerAndTwoInARowMoveTheClient(t *testing.T) {
	servers := startServers(t, 1, 1)
	client := connect(t, snowlane.Options{AttemptTimeout: 40 * time.Second}, servers...)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	slow, well := servers[0], servers[1]
	if well.calls.Load() > 0 {
		slow, well = well, slow
	}
	held := hold(t, slow)
	for range 3 {
		buffer, err := client.Prefetch(snowlane.BufferOptions{MaxAge: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		mustNext(t, buffer)
	}
	if held.Load() != 2 || well.calls.Load() != 3 {
		t.Errorf("%d refills of the slow server, %d of the other", held.Load(), well.calls.Load())
	}
}

func TestARefillWithoutAnAnswerIsSentOverASecondConnectionWhichIsKept(t *testing.T) {
	server := startServer(t)
	link := startLink(t, server)
	client := connect(t, snowlane.Options{Endpoints: []string{link.url()}, AttemptTimeout: 40 * time.Second})
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	link.swallow()
	buffer, err := client.Prefetch(snowlane.BufferOptions{MaxAge: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	mustNext(t, buffer)
	// The same connection: the one before answers nothing.
	if _, err := client.NextID(ctx); err != nil {
		t.Error(err)
	}
	if accepted := link.accepted.Load(); accepted != 2 {
		t.Errorf("%d connections", accepted)
	}
}

func TestNoHedgeFollowsAQuotaThatIsUsedUp(t *testing.T) {
	servers := startServers(t, 1, 1)
	for _, server := range servers {
		server.setReserve(func(uint32) ([]*snowlanev1.IdRun, error) {
			return nil, faultOf(codes.ResourceExhausted, "QUOTA_EXCEEDED", 0, nil)
		})
	}
	client := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries, AttemptTimeout: time.Second, Timeout: time.Second}, servers...)
	isUsedUp := make(chan struct{})
	var once sync.Once
	buffer, err := client.Prefetch(snowlane.BufferOptions{Observer: &snowlane.ClientObserver{OnRefill: func(event snowlane.RefillEvent) {
		if event.Reason == snowlane.QuotaExceeded {
			once.Do(func() { close(isUsedUp) })
		}
	}}})
	if err != nil {
		t.Fatal(err)
	}
	buffer.TryNextID()
	<-isUsedUp
	held := []*atomic.Int64{hold(t, servers[0]), hold(t, servers[1])}
	if _, err := buffer.NextID(ctx); err == nil {
		t.Error("an ID came")
	}
	if held[0].Load() > 0 && held[1].Load() > 0 {
		t.Error("both servers were asked")
	}
}

func TestAConnectionThatWasLostIsOneThatMustBeOpenedAgainAndHasNoSecondBesideIt(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	for range 2 {
		if _, err := client.NextID(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if !client.MayOpenSecond() {
		t.Error("no second connection beside one that has answered")
	}
	server.kill()
	eventually(t, "the connection to be lost", func() bool { return !client.MayOpenSecond() })
}
