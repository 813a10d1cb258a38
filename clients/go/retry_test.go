package snowlane_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
)

func TestPassesTellsWhetherWaitingCanCureAnError(t *testing.T) {
	for code, passes := range map[codes.Code]bool{
		codes.Unavailable: true, codes.ResourceExhausted: true, codes.DeadlineExceeded: true, codes.Internal: true,
		codes.InvalidArgument: false, codes.Unauthenticated: false, codes.PermissionDenied: false,
		codes.FailedPrecondition: false, codes.Unimplemented: false,
	} {
		if failure := (&snowlane.Error{Code: code}); failure.Passes() != passes {
			t.Error(code)
		}
	}
	client := connect(t, snowlane.Options{Endpoints: []string{"http://127.0.0.1:1"}})
	_, err := client.NextID(ctx)
	var failure *snowlane.Error
	if !errors.As(err, &failure) || failure.Passes() {
		t.Errorf("no server ever answered: %v", err)
	}
}

func TestAnErrorAtTheEndOfAContextIsThatOfTheContext(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{Random: func() float64 { return 0 }}, server)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	server.kill()
	var isRefused atomic.Bool
	observer := &snowlane.ClientObserver{OnRefill: func(refill snowlane.RefillEvent) {
		isRefused.Store(refill.Reason == snowlane.Unreachable)
	}}
	buffer, err := client.Prefetch(snowlane.BufferOptions{Observer: observer})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the refusal of a refill", func() bool {
		buffer.TryNextID()
		return isRefused.Load()
	})
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	_, err = buffer.NextID(short)
	expectReason(t, err, snowlane.Unreachable)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not context.DeadlineExceeded", err)
	}
	var cause *snowlane.Error
	if !errors.As(err, &cause) || cause.Endpoint != server.url() {
		t.Errorf("%v", err)
	}
	cancelled, cancelNow := context.WithCancel(ctx)
	time.AfterFunc(20*time.Millisecond, cancelNow)
	_, err = buffer.NextID(cancelled)
	if expectReason(t, err, snowlane.Cancelled); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not context.Canceled", err)
	}
}
