package snowlane_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"snowlane.dev/go"
)

// The storms: callers on answers that expire 0.3 ms after they came, some of the callers cancelled.
func TestNoIDTwice(t *testing.T) {
	total := 3_200_000
	if testing.Short() {
		total = 640_000
	}
	for _, callers := range []int{64, 1_000} {
		t.Run(fmt.Sprint(callers), func(t *testing.T) { storm(t, callers, total/callers, false) })
		t.Run(fmt.Sprint(callers, " spread"), func(t *testing.T) { storm(t, callers, total/callers, true) })
	}
}

func storm(t *testing.T, callers, each int, isSpread bool) {
	const maxAge = 10 * time.Millisecond
	buffer, source := newHasty(t, maxAge-300*time.Microsecond, snowlane.BufferOptions{MaxAge: maxAge, CountMin: 20_000})
	source.runMax = 4_096
	defer buffer.Close()
	got := make([][]snowlane.ID, callers)
	var cancelled atomic.Int64
	var group sync.WaitGroup
	for caller := range callers {
		group.Add(1)
		go func() {
			defer group.Done()
			random := rand.New(rand.NewPCG(uint64(caller), 1))
			for len(got[caller]) < each {
				if isSpread && random.IntN(64) == 0 {
					buffer.SpreadCallers()
				}
				got[caller] = append(got[caller], take(t, buffer, random, &cancelled)...)
			}
		}()
	}
	group.Wait()
	total := uint64(0)
	buffer.Close()
	source.mutex.Lock()
	seen := make([]uint64, (source.next+64)/64)
	source.mutex.Unlock()
	for _, ids := range got {
		total += uint64(len(ids))
		for _, id := range ids {
			if seen[id/64]&(1<<(id%64)) != 0 {
				t.Fatalf("%d came twice", id)
			}
			seen[id/64] |= 1 << (id % 64)
		}
	}
	stats := buffer.Stats()
	t.Logf("%d IDs, %d calls cancelled, %+v", total, cancelled.Load(), stats)
	// What a block had claimed when its deadline passed is a gap.
	if gaps := stats.HandedOut - total; gaps > 100*uint64(cancelled.Load()) {
		t.Errorf("%d handed out, %d came", stats.HandedOut, total)
	}
	if stats.Dropped+stats.RefillFailures == 0 {
		t.Error("nothing expired")
	}
	if most := source.underWayMax.Load(); most != 1 {
		t.Errorf("%d reservations at once", most)
	}
	checkBalance(t, buffer)
}

// take takes IDs by one of the three ways, now and then with a deadline that may pass.
func take(t *testing.T, buffer *snowlane.Buffer, random *rand.Rand, cancelled *atomic.Int64) []snowlane.ID {
	var ids []snowlane.ID
	var err error
	switch choice := random.IntN(64); choice {
	case 0:
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Microsecond)
		defer cancel()
		ids = make([]snowlane.ID, 1)
		ids[0], err = buffer.NextID(ctx)
	case 1:
		if id, ok := buffer.TryNextID(); ok {
			ids = append(ids, id)
		}
	case 2:
		ids, err = buffer.NextIDs(ctx, 1+random.IntN(100))
	default:
		ids = make([]snowlane.ID, 1)
		ids[0], err = buffer.NextID(ctx)
	}
	if err == nil {
		return ids
	}
	if reason := snowlane.ReasonOf(err); reason != snowlane.DeadlineExceeded {
		t.Error(err)
	}
	cancelled.Add(1)
	return nil
}
