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

// advance lets time pass, before and after which no reservation is under way: refills run in goroutines of their own.
func (o *outageTrial) advance(duration time.Duration) {
	o.settle()
	o.clock.Advance(duration)
	o.settle()
}

func (o *outageTrial) settle() {
	for o.buffer.IsRefilling() {
		runtime.Gosched()
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
	if stats := trial.buffer.Stats(); stats.Waits != before.Waits || stats.RefillFailures == 0 {
		t.Errorf("%+v, before %+v", stats, before)
	}
	checkBalance(t, trial.buffer)
}

func TestAStockForAnOutageIsFilledGently(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Minute})
	trial.run(2*time.Minute, 1_000)
	asked := trial.source.askedCounts()
	stock := trial.buffer.Stats().Stock
	if stock < 579_500 || stock > 640_500 || slices.Max(asked) > 28_000 {
		t.Errorf("%d in stock after two minutes, asked %v", stock, asked)
	}
	trial.buffer.Close()
	if stats := trial.buffer.Stats(); stats.Stock != 0 || stats.Dropped != stock {
		t.Errorf("%+v after the end, before %d", stats, stock)
	}
}

func TestAStockForAnOutageFollowsTheRateAndFallsAsleep(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Second, MaxAge: 40 * time.Second})
	trial.run(4*time.Minute, 100)
	// Some 2.2 IDs are reserved for one that is used.
	if stats := trial.buffer.Stats(); stats.Stock < 1_900 || (stats.Reserved-stats.Stock)*10 > stats.HandedOut*23 {
		t.Errorf("%+v at an even rate", stats)
	}
	trial.run(2*time.Minute, 1)
	if stats := trial.buffer.Stats(); stats.Stock > 160 {
		t.Errorf("%+v at a low rate", stats)
	}
	trial.advance(3 * time.Minute)
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
	if stock := trial.buffer.Stats().Stock; stock < 18_000 || stock > 21_250 {
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

func TestIDsAreFreshAgainOnceServersAreBack(t *testing.T) {
	trial := newOutageTrial(t, snowlane.BufferOptions{Outage: 10 * time.Second, MaxAge: 40 * time.Second})
	trial.run(time.Minute, 100)
	trial.die()
	trial.run(8*time.Second, 100)
	// The source counts up from 1.
	reserved := trial.buffer.Stats().Reserved
	trial.source.setAnswer(nil)
	trial.run(4*time.Second, 100)
	if id := mustNext(t, trial.buffer); uint64(id) <= reserved {
		t.Errorf("%d is of before the servers were back: %d had been reserved", id, reserved)
	}
}
