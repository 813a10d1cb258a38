package snowlanetest_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

func TestTheScriptIsFollowed(t *testing.T) {
	ctx := context.Background()
	client := snowlanetest.NewClient(
		snowlanetest.ID(7),
		snowlanetest.Run(100, 5, 10),
		snowlanetest.Fail(snowlane.StoreUnavailable, codes.Unavailable, time.Second),
		snowlanetest.ID(8),
	)
	if id, err := client.NextID(ctx); id != 7 || err != nil {
		t.Errorf("%d %v", id, err)
	}
	if ids, err := client.NextIDs(ctx, 2); !slices.Equal(ids, []snowlane.ID{100, 110}) || err != nil {
		t.Errorf("%d %v", ids, err)
	}
	runs, err := client.Reserve(ctx, 9)
	if want := []snowlane.Run{{First: 120, Count: 3, Stride: 10}}; !slices.Equal(runs, want) || err != nil {
		t.Errorf("%v %v", runs, err)
	}
	for ids, err := range client.Stream(ctx, 2, snowlane.StreamOptions{}) {
		if len(ids) > 0 || snowlane.ReasonOf(err) != snowlane.StoreUnavailable {
			t.Errorf("%v %v", ids, err)
		}
	}
	if id, err := client.NextID(ctx); id != 8 || err != nil {
		t.Errorf("%d %v", id, err)
	}
	if _, err := client.NextID(ctx); snowlane.ReasonOf(err) != snowlane.ScriptEnded {
		t.Error(err)
	}
	if _, err := client.NextIDs(ctx, 0); snowlane.ReasonOf(err) != snowlane.CountOutOfRange {
		t.Error(err)
	}
	client.Close()
	if _, err := client.NextID(ctx); snowlane.ReasonOf(err) != snowlane.ClientClosed {
		t.Error(err)
	}
}

func TestADelayPassesOnTheClock(t *testing.T) {
	client := snowlanetest.NewClient(snowlanetest.Delay(time.Hour), snowlanetest.Run(1, 100, 1))
	buffer, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := buffer.TryNextID(); ok {
		t.Error("there is stock")
	}
	result := make(chan snowlane.Reason)
	go func() {
		_, err := buffer.NextID(context.Background())
		result <- snowlane.ReasonOf(err)
	}()
	// The buffer asks in the background: the delay has been taken only once it got to it.
	for buffer.Stats().Waits < 1 || client.StepsLeft() > 1 {
		time.Sleep(time.Millisecond)
	}
	client.Clock.Advance(5 * time.Second)
	if reason := <-result; reason != snowlane.DeadlineExceeded {
		t.Error(reason)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := client.Reserve(ctx, 1); err != nil {
		t.Errorf("the delay had been taken: %v", err)
	}
}

func TestASequenceFollowsItsScript(t *testing.T) {
	ctx := context.Background()
	client := snowlanetest.NewClient()
	january := snowlane.SequenceValue{Value: 9, Text: "2026-01/9", PeriodKey: "2026-01"}
	february := snowlane.SequenceValue{Value: 1, Text: "2026-02/1", PeriodKey: "2026-02"}
	client.AddSequence("orders", snowlanetest.Values(10, 4, 10),
		snowlanetest.Fail(snowlane.SequenceDisabled, codes.FailedPrecondition, 0))
	client.AddSequence("invoices", snowlanetest.Value(january), snowlanetest.Value(february), snowlanetest.Values(3, 1, 1))
	orders, invoices := client.Sequence("orders"), client.Sequence("invoices")
	if value, err := orders.NextValue(ctx); value.Value != 10 || err != nil {
		t.Error(value, err)
	}
	if values, err := orders.NextValues(ctx, 2); len(values) != 2 || values[1].Value != 30 || err != nil {
		t.Error(values, err)
	}
	if reserved, err := orders.Reserve(ctx, 9); len(reserved.Runs) != 1 || reserved.Runs[0].FirstValue != 40 || err != nil {
		t.Error(reserved, err)
	}
	for _, reason := range []snowlane.Reason{snowlane.SequenceDisabled, snowlane.ScriptEnded} {
		if _, err := orders.NextValue(ctx); snowlane.ReasonOf(err) != reason {
			t.Error(err)
		}
	}
	var chunks []int
	for values, err := range invoices.Stream(ctx, 2, snowlane.StreamOptions{}) {
		if err != nil {
			t.Error(err)
		}
		chunks = append(chunks, len(values))
	}
	if !slices.Equal(chunks, []int{1, 1}) {
		t.Error(chunks)
	}
	if _, err := invoices.NextText(ctx); snowlane.ReasonOf(err) != snowlane.InvalidSequence {
		t.Error(err)
	}
	if _, err := client.Sequence("none").NextValue(ctx); snowlane.ReasonOf(err) != snowlane.SequenceNotFound {
		t.Error(err)
	}
	client.Close()
	if _, err := orders.NextValue(ctx); snowlane.ReasonOf(err) != snowlane.ClientClosed {
		t.Error(err)
	}
}
