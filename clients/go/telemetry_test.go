package snowlane_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

func TestInterceptorsOfTheCallerPassOnItsTraceAndTheUserAgentNamesTheClient(t *testing.T) {
	server := startServer(t)
	var seen metadata.MD
	server.setNextID(func(ctx context.Context) (uint64, error) {
		seen, _ = metadata.FromIncomingContext(ctx)
		return 1, nil
	})
	trace := func(
		ctx context.Context, method string, request, reply any, channel *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		return invoke(metadata.AppendToOutgoingContext(ctx, "traceparent", traceparent), method, request, reply, channel, options...)
	}
	client := connect(t, snowlane.Options{
		DialOptions: []grpc.DialOption{grpc.WithUnaryInterceptor(trace), grpc.WithUserAgent("other")},
	}, server)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	if got := seen.Get("traceparent"); len(got) != 1 || got[0] != traceparent {
		t.Errorf("traceparent %q", got)
	}
	if got := strings.Join(seen.Get("user-agent"), ""); !strings.HasPrefix(got, "snowlane-go/0.") {
		t.Errorf("user agent %q", got)
	}
}

// stateRecorder notes states in their order, and what the log says.
type stateRecorder struct {
	mutex  sync.Mutex
	events []snowlane.StateEvent
	lines  bytes.Buffer
}

func (r *stateRecorder) Write(line []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.lines.Write(line)
}

func (r *stateRecorder) observer() *snowlane.ClientObserver {
	return &snowlane.ClientObserver{OnState: func(event snowlane.StateEvent) {
		r.mutex.Lock()
		defer r.mutex.Unlock()
		r.events = append(r.events, event)
	}}
}

func (r *stateRecorder) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(r, nil))
}

func (r *stateRecorder) states() []snowlane.StateEvent {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]snowlane.StateEvent(nil), r.events...)
}

func (r *stateRecorder) log() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.lines.String()
}

func TestWhenRefillsBeginToFailAndWhenTheyWorkAgainIsToldOnceAndLogged(t *testing.T) {
	recorder := &stateRecorder{}
	buffer, source, clock := newFake(t, snowlane.BufferOptions{
		Observer: recorder.observer(), Logger: recorder.logger(), Timeout: time.Hour,
	})
	source.setAnswer(down(0))
	done := make(chan error, 1)
	go func() {
		_, err := buffer.NextID(ctx)
		done <- err
	}()
	for failures := uint64(1); failures <= 5; failures++ {
		eventually(t, "a failed refill", func() bool { return buffer.Stats().RefillFailures == failures && !buffer.IsRefilling() })
		if states := recorder.states(); failures < 3 && len(states) > 0 {
			t.Errorf("reported after %d failures: %+v", failures, states)
		}
		pause := 2 * time.Second
		switch {
		case failures < 3:
			pause = 250 * time.Millisecond
		case failures == 5:
			source.setAnswer(nil)
		}
		clock.Advance(pause)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	eventually(t, "both are reported", func() bool { return len(recorder.states()) == 2 })
	states := recorder.states()
	if states[0].State != snowlane.StateFailing || states[0].Reason != snowlane.StoreUnavailable {
		t.Errorf("%+v", states[0])
	}
	if states[1].State != snowlane.StateWorking || states[1].Duration < 2*time.Second {
		t.Errorf("%+v", states[1])
	}
	eventually(t, "two lines", func() bool { return strings.Count(recorder.log(), "\n") == 2 })
	lines := strings.Split(recorder.log(), "\n")
	if !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[0], "STORE_UNAVAILABLE") || !strings.Contains(lines[1], "level=INFO") {
		t.Error(recorder.log())
	}
}

func TestTheLogGetsALineOfOneKindAMinute(t *testing.T) {
	recorder, clock := &stateRecorder{}, &snowlanetest.Clock{}
	tell := snowlane.NewStates(clock, recorder.observer(), recorder.logger())
	for _, step := range []struct {
		after time.Duration
		state snowlane.State
		lines int
	}{
		{0, snowlane.StateFailing, 1}, {0, snowlane.StateWorking, 2}, {59 * time.Second, snowlane.StateFailing, 2},
		{time.Second, snowlane.StateFailing, 3}, {time.Second, snowlane.StateFailing, 3},
	} {
		clock.Advance(step.after)
		tell(snowlane.StateEvent{State: step.state})
		if lines := strings.Count(recorder.log(), "\n"); lines != step.lines {
			t.Errorf("%d lines, not %d:\n%s", lines, step.lines, recorder.log())
		}
	}
	if states := recorder.states(); len(states) != 5 {
		t.Errorf("%d states", len(states))
	}
}

func TestAClientTellsThatItMoved(t *testing.T) {
	recorder := &stateRecorder{}
	servers := startServers(t, 1, 1)
	client := connect(t, snowlane.Options{Observer: recorder.observer(), Logger: recorder.logger()}, servers...)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	left, other := servers[0], servers[1]
	if other.calls.Load() > 0 {
		left, other = other, left
	}
	left.kill()
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	states := recorder.states()
	if len(states) != 1 || states[0] != (snowlane.StateEvent{State: snowlane.StateMoved, Reason: snowlane.Unreachable, Endpoint: other.url()}) {
		t.Errorf("%+v", states)
	}
}

func TestAClientTellsThatItReplacedAConnectionAndOfAnotherDeployment(t *testing.T) {
	recorder := &stateRecorder{}
	server := startServer(t)
	link := startLink(t, server)
	client := connect(t, snowlane.Options{
		Endpoints: []string{link.url()}, AttemptTimeout: time.Second, Observer: recorder.observer(), Logger: recorder.logger(),
	})
	server.deployment.Store(1)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	link.swallow()
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	server.deployment.Store(2)
	_, err := client.NextID(ctx)
	expectReason(t, err, snowlane.DeploymentMismatch)
	states := recorder.states()
	if len(states) < 2 || states[0].State != snowlane.StateReplaced || states[1].State != snowlane.StateMismatch {
		t.Errorf("%+v", states)
	}
	if lines := recorder.log(); !strings.Contains(lines, "level=ERROR") {
		t.Error(lines)
	}
}

func TestTheObserverLearnsOfBothRequestsOfARefillAndWhichOneIsTheHedge(t *testing.T) {
	servers := startServers(t, 1, 1)
	var mutex sync.Mutex
	var events []snowlane.AttemptEvent
	observer := &snowlane.ClientObserver{OnAttempt: func(event snowlane.AttemptEvent) {
		mutex.Lock()
		defer mutex.Unlock()
		if event.Method == "ReserveIds" {
			events = append(events, event)
		}
	}}
	client := connect(t, snowlane.Options{AttemptTimeout: 40 * time.Second, Observer: observer}, servers...)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	slow, well := servers[0], servers[1]
	if well.calls.Load() > 0 {
		slow, well = well, slow
	}
	hold(t, slow)
	buffer, err := client.Prefetch(snowlane.BufferOptions{MaxAge: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	mustNext(t, buffer)
	mutex.Lock()
	defer mutex.Unlock()
	if len(events) != 2 || events[0].Endpoint != slow.url() || events[0].Reason != snowlane.Cancelled ||
		events[1].Endpoint != well.url() || events[1].Reason != "" || events[0].Attempt != 1 || events[1].Attempt != 1 ||
		events[0].IsHedge || !events[1].IsHedge {
		t.Errorf("%+v", events)
	}
}

func TestReadyConnectsAndReservesAndTakesNoID(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	if err := client.Ready(ctx); err != nil || server.calls.Load() != 0 || server.infoCalls.Load() != 1 {
		t.Errorf("%v, %d calls, %d of GetInfo", err, server.calls.Load(), server.infoCalls.Load())
	}
	buffer, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := buffer.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	if stats := buffer.Stats(); stats.HandedOut != 0 || stats.Stock == 0 {
		t.Errorf("%+v", stats)
	}
	if id, isThere := buffer.TryNextID(); !isThere || id == 0 {
		t.Error("no stock")
	}
	buffer.Close()
	expectReason(t, buffer.Ready(ctx), snowlane.ClientClosed)
}
