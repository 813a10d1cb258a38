package snowlane_test

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

// takeFromManyStacks lets goroutines, all alive at once, take one ID each, so that they reach most of the
// stripes.
func takeFromManyStacks(t *testing.T, buffer *snowlane.Buffer, goroutines int) []snowlane.ID {
	t.Helper()
	ids := make([]snowlane.ID, goroutines)
	var taken, group sync.WaitGroup
	taken.Add(goroutines)
	for index := range ids {
		group.Add(1)
		go func() {
			defer group.Done()
			id, err := buffer.NextID(ctx)
			if err != nil {
				t.Error(err)
			}
			ids[index] = id
			taken.Done()
			taken.Wait()
		}()
	}
	group.Wait()
	return ids
}

func drain(buffer *snowlane.Buffer) []snowlane.ID {
	var ids []snowlane.ID
	for {
		id, ok := buffer.TryNextID()
		if !ok {
			return ids
		}
		ids = append(ids, id)
	}
}

func expectDistinct(t *testing.T, ids []snowlane.ID) {
	t.Helper()
	slices.Sort(ids)
	if distinct := len(slices.Compact(slices.Clone(ids))); distinct != len(ids) {
		t.Errorf("%d of %d IDs came twice", len(ids)-distinct, len(ids))
	}
}

// newSpread returns a buffer with 10,000 IDs in stock, one of them taken, whose callers are spread. Each further
// reservation needs a token of the gate.
func newSpread(t *testing.T) (*snowlane.Buffer, *fakeSource, *snowlanetest.Clock) {
	t.Helper()
	buffer, source, clock := newFake(t, snowlane.BufferOptions{CountMin: 10_000, CountMax: 10_000, MaxAge: 100 * time.Millisecond})
	source.gate = make(chan struct{}, 10)
	source.gate <- struct{}{}
	if id := mustNext(t, buffer); id != 1 {
		t.Errorf("got %d, want 1", id)
	}
	buffer.SpreadCallers()
	return buffer, source, clock
}

func TestOneGoroutineGetsRisingIDs(t *testing.T) {
	buffer, _, _ := newFake(t, snowlane.BufferOptions{CountMin: 1_000})
	for want := snowlane.ID(1); want <= 100_000; want++ {
		if id := mustNext(t, buffer); id != want {
			t.Fatalf("got %d, want %d", id, want)
		}
	}
	if buffer.IsSpread() {
		t.Error("one goroutine alone was spread")
	}
}

func TestNoIDLiesIdleInAStripe(t *testing.T) {
	buffer, _, _ := newSpread(t)
	ids := takeFromManyStacks(t, buffer, 200)
	if stock := buffer.Stats().Stock; stock != 10_000-201 {
		t.Errorf("%d in stock", stock)
	}
	ids = append(ids, drain(buffer)...)
	if len(ids) != 9_999 {
		t.Errorf("%d IDs came, want 9,999", len(ids))
	}
	expectDistinct(t, ids)
	if stats := buffer.Stats(); stats.HandedOut != 10_000 || stats.Stock != 0 || stats.Waits != 1 {
		t.Errorf("%+v", stats)
	}
}

func TestABlockOfManyIsTakenFromStripesToo(t *testing.T) {
	buffer, _, _ := newSpread(t)
	ids := takeFromManyStacks(t, buffer, 200)
	more, err := buffer.NextIDs(ctx, 9_799)
	if err != nil {
		t.Fatal(err)
	}
	expectDistinct(t, append(ids, more...))
	if stock := buffer.Stats().Stock; stock != 0 {
		t.Errorf("%d in stock", stock)
	}
}

func TestStripesGrowTooOldWithTheirAnswer(t *testing.T) {
	buffer, source, clock := newSpread(t)
	takeFromManyStacks(t, buffer, 200)
	clock.Advance(50 * time.Millisecond)
	source.gate <- struct{}{}
	taken := 201
	take := func(count int) {
		if _, err := buffer.NextIDs(ctx, count); err != nil {
			t.Fatal(err)
		}
		taken += count
	}
	// To the mark, where a quarter is left; then the rest of the first answer but what the stripes hold, and some of
	// the second.
	held := buffer.Held()
	take(7_501 - taken - held)
	eventually(t, "the second reservation", func() bool { return buffer.Stats().Refills == 2 })
	take(3_000)
	stats := buffer.Stats()
	if stats.HandedOut != uint64(taken) || stats.Dropped != 0 || stats.Reserved != 20_000 {
		t.Errorf("%+v", stats)
	}
	clock.Advance(50 * time.Millisecond)
	if !buffer.IsSpread() {
		t.Error("the rush is over, though an answer was used up")
	}
	ids := drain(buffer)
	expectDistinct(t, ids)
	if len(ids) == 0 || ids[0] <= 10_000 {
		t.Errorf("got %d IDs, after the first answer's time", len(ids))
	}
	stats = buffer.Stats()
	if stats.Dropped != uint64(held) || stats.Stock != 0 || stats.HandedOut != uint64(taken+len(ids)) {
		t.Errorf("%+v", stats)
	}
	checkBalance(t, buffer)
}

func TestAnAnswerThatLastsEndsTheRush(t *testing.T) {
	buffer, source, clock := newSpread(t)
	takeFromManyStacks(t, buffer, 200)
	clock.Advance(100 * time.Millisecond)
	if buffer.IsSpread() {
		t.Error("still spread")
	}
	if stats := buffer.Stats(); stats.Dropped != 10_000-201 || stats.Stock != 0 || stats.HandedOut != 201 {
		t.Errorf("%+v", stats)
	}
	source.gate <- struct{}{}
	if id := mustNext(t, buffer); id != 10_001 {
		t.Errorf("got %d, want 10,001", id)
	}
}

func TestClosingDropsWhatStripesHold(t *testing.T) {
	buffer, _, _ := newSpread(t)
	takeFromManyStacks(t, buffer, 200)
	buffer.Close()
	_, err := buffer.NextID(ctx)
	expectReason(t, err, snowlane.ClientClosed)
	if ids := drain(buffer); len(ids) > 0 {
		t.Errorf("a closed buffer gave %v", ids)
	}
	if stats := buffer.Stats(); stats.Dropped != 10_000-201 || stats.HandedOut != 201 {
		t.Errorf("%+v", stats)
	}
	buffer.SpreadCallers()
	if buffer.IsSpread() {
		t.Error("a closed buffer was spread")
	}
}

// Rounds of callers on one buffer while its answers expire and it is closed: every ID that was handed out came to a
// caller, and once.
func TestEachIDComesOnceWhileBuffersClose(t *testing.T) {
	// The source answers without a wait: on one processor a caller and the refills that it asks for would keep it.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rounds := 80
	if testing.Short() {
		rounds = 30
	}
	for round := range rounds {
		const maxAge = 10 * time.Millisecond
		buffer, source := newHasty(t, maxAge-time.Duration(round%8)*time.Millisecond/4, snowlane.BufferOptions{
			MaxAge: maxAge, CountMin: 5_000, Timeout: time.Minute,
		})
		source.runMax = 3_000
		ids := takeUntilClosed(t, buffer, round)
		stats := buffer.Stats()
		if stats.HandedOut != uint64(len(ids)) || stats.Stock != 0 {
			t.Fatalf("round %d: %d IDs came, %+v", round, len(ids), stats)
		}
		expectDistinct(t, ids)
	}
}

// takeUntilClosed lets callers take IDs one by one, spreads them again and again, and closes the buffer.
func takeUntilClosed(t *testing.T, buffer *snowlane.Buffer, round int) []snowlane.ID {
	t.Helper()
	var group sync.WaitGroup
	taken := make([][]snowlane.ID, 2+round%15)
	for caller := range taken {
		group.Add(1)
		go func() {
			defer group.Done()
			for {
				id, err := buffer.NextID(ctx)
				if err != nil {
					expectReason(t, err, snowlane.ClientClosed)
					return
				}
				taken[caller] = append(taken[caller], id)
			}
		}()
	}
	for range 20 {
		buffer.SpreadCallers()
		for range 10 {
			runtime.Gosched()
		}
	}
	buffer.Close()
	group.Wait()
	return slices.Concat(taken...)
}
