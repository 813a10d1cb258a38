package snowlane_test

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

// outageTrial takes IDs of a buffer at an even rate, by the fake clock, and never the same twice.
type outageTrial struct {
	t      *testing.T
	buffer *snowlane.Buffer
	source *fakeSource
	clock  *snowlanetest.Clock
	taken  map[snowlane.ID]bool
}

func newOutageTrial(t *testing.T, options snowlane.BufferOptions) *outageTrial {
	t.Helper()
	buffer, source, clock := newFake(t, options)
	return &outageTrial{t, buffer, source, clock, map[snowlane.ID]bool{}}
}

func (o *outageTrial) run(duration time.Duration, perSecond int) {
	o.t.Helper()
	step := max(250*time.Millisecond, time.Second/time.Duration(perSecond))
	for at := time.Duration(0); at < duration; at += step {
		ids, err := o.buffer.NextIDs(ctx, int(float64(perSecond)*step.Seconds()))
		if err != nil {
			o.t.Fatal(err)
		}
		for _, id := range ids {
			if o.taken[id] {
				o.t.Fatalf("%d was handed out twice", id)
			}
			o.taken[id] = true
		}
		o.advance(step)
	}
}

// advance lets time pass, and then what it set going: refills run in goroutines of their own.
func (o *outageTrial) advance(duration time.Duration) {
	o.clock.Advance(duration)
	for settled := 0; settled < 3; {
		runtime.Gosched()
		stats := o.buffer.Stats()
		if int(stats.Refills+stats.RefillFailures) == len(o.source.askedCounts()) {
			settled++
		}
	}
}

func (o *outageTrial) die() {
	o.source.setAnswer(func(int) ([]snowlane.Run, error) {
		return nil, &snowlane.Error{Reason: snowlane.Unreachable, Code: codes.Unavailable}
	})
}

func TestAThousandIDsASecondGoOnForTenMinutesWithoutAnyServer(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Minute})
	trial.run(3*time.Minute, 1_000)
	before := trial.buffer.Stats()
	if before.OutageLeft <= 10*time.Minute || before.OutageLeft > 20*time.Minute {
		t.Errorf("the stock lasts for %v", before.OutageLeft)
	}
	trial.die()
	trial.run(10*time.Minute, 1_000)
	trial.source.setAnswer(nil)
	trial.run(2*time.Minute, 1_000)
	if stats := trial.buffer.Stats(); stats.Waits != before.Waits || stats.Dropped != 0 || stats.RefillFailures == 0 {
		t.Errorf("%+v, before %+v", stats, before)
	}
	checkBalance(t, trial.buffer)
}

func TestAStockForAnOutageIsFilledGently(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Minute})
	trial.run(90*time.Second, 1_000)
	asked := trial.source.askedCounts()
	stock := trial.buffer.Stats().Stock
	if stock < 567_000 || stock > 592_000 || slices.Max(asked) > 24_000 || len(asked) > 120 {
		t.Errorf("%d in stock after 90 s, asked %v", stock, asked)
	}
	trial.buffer.Close()
	if stats := trial.buffer.Stats(); stats.Stock != 0 || stats.Dropped != stock {
		t.Errorf("%+v after the end, before %d", stats, stock)
	}
}

func TestAStockForAnOutageFollowsTheRateAndFallsAsleep(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Second, MaxAge: 20 * time.Second})
	trial.run(time.Minute, 100)
	begun := trial.buffer.Stats()
	trial.run(4*time.Minute, 100)
	if stats := trial.buffer.Stats(); stats.Stock < 1_300 || stats.Stock > 1_600 || stats.Dropped > begun.Dropped {
		t.Errorf("%+v at an even rate", stats)
	}
	trial.run(2*time.Minute, 1)
	if stats := trial.buffer.Stats(); stats.Stock > 64 {
		t.Errorf("%+v at a low rate", stats)
	}
	trial.advance(2 * time.Minute)
	asked := len(trial.source.askedCounts())
	trial.advance(10 * time.Minute)
	if stats := trial.buffer.Stats(); stats.Stock > 0 || stats.OutageLeft > 0 || len(trial.source.askedCounts()) > asked {
		t.Errorf("%+v at rest", stats)
	}
	mustNext(t, trial.buffer)
}

func TestStockMaxBoundsTheStockForAnOutage(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Minute, StockMax: 20_000})
	trial.run(4*time.Minute, 1_000)
	if stock := trial.buffer.Stats().Stock; stock < 18_000 || stock > 20_000 {
		t.Errorf("%d in stock", stock)
	}
}

func TestOutagesOutOfRangeAreRefused(t *testing.T) {
	for _, options := range []snowlane.BufferOptions{
		{Outage: time.Second - 1}, {Outage: 30*time.Minute + 1}, {Outage: -1}, {Outage: time.Minute, MaxAge: time.Minute - 1},
		{Outage: time.Minute, MaxAge: time.Hour + 1}, {Outage: time.Minute, StockMax: -1},
	} {
		if _, err := snowlane.NewBuffer(&fakeSource{}, options); err == nil {
			t.Errorf("%+v is accepted", options)
		}
	}
	newFake(t, snowlane.BufferOptions{Outage: 30 * time.Minute, MaxAge: time.Hour})
}
