package snowlane

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// BufferOptions says how a buffer works. The zero value means the defaults.
type BufferOptions struct {
	// MaxAge is the maximum age of an ID's reservation when the ID is handed out: 10 ms to 60 s. Default: 5 s. With
	// Outage: Outage to 1 h. Default: twice Outage, and at least Outage plus 30 s.
	MaxAge time.Duration
	// Outage keeps a reserve of IDs that lasts this long without any server, at the rate of the last minute: 1 s to 30
	// min. Default: off. About 2.2 IDs are then reserved for each one used, and a stop leaves the reserve as a gap. In
	// an outage, and only then, times in IDs are up to MaxAge older than their use.
	Outage time.Duration
	// StockMax is the most IDs that Outage aims at, not counting those that will soon be too old: 1 to 1,000,000,000.
	// Default: 10,000,000.
	StockMax int
	// CountMin and CountMax bound one reservation: 1 to 1,048,576 IDs. Defaults: 8 and 65,536.
	CountMin, CountMax int
	// Timeout is how long a caller may wait for stock if its context has no deadline. Default: that of the client.
	Timeout time.Duration
	// Observer, Clock and Random default to those of the client. Random returns numbers from 0 to below 1, and may be
	// called from any goroutine.
	Observer *ClientObserver
	Clock    Clock
	Random   func() float64
	// Logger gets a line when refills begin to fail, and another when they work again. Default: that of the client.
	Logger *slog.Logger
}

// BufferStats is a snapshot of a buffer's counters. Reserved = HandedOut + Dropped + Stock.
type BufferStats struct {
	HandedOut, Reserved uint64
	// Dropped counts IDs that grew too old, or were dropped by Close.
	Dropped uint64
	// Refills counts the refills that succeeded, RefillFailures those that failed.
	Refills, RefillFailures uint64
	// Waits counts calls that found no stock.
	Waits uint64
	// Stock is the number of IDs at hand.
	Stock         uint64
	RatePerSecond float64
	MeanRTT       time.Duration
	// OutageLeft is how long the stock lasts at the measured rate, at most MaxAge.
	OutageLeft time.Duration
}

const (
	nextIDsMax  = 1_048_576
	stockMaxMax = 1_000_000_000
)

// Buffer hands out IDs from memory and reserves more in the background, before they run out. An ID goes to at most one
// caller, even if calls are cancelled. A Buffer is safe for any number of goroutines, and must not be copied.
// docs/internals/client-contract.md in the repository has the rules.
type Buffer struct {
	_ noCopy
	// run is the one that callers claim from; never nil.
	run atomic.Pointer[claimableRun]
	// spread is set while callers claim from blocks of the run instead; see stripes.
	spread atomic.Pointer[stripes]

	source   RunSource
	clock    Clock
	random   func() float64
	observer *ClientObserver
	states   *states
	maxAge   time.Duration
	timeout  time.Duration
	// closing ends the reservation that is on its way.
	closing context.Context
	close   context.CancelFunc
	// onClose, if set, is called once closed.
	onClose func()

	mutex  sync.Mutex
	policy refillPolicy
	// outage is nil if no reserve is kept for an outage.
	outage *outagePolicy
	// stopTopUp is set while the reserve for an outage is checked every second.
	stopTopUp func()
	answer    *answer
	// spare is the answer that comes after it.
	spare *answer
	// reserve is the pieces of answers that are kept for an outage, the newest last.
	reserve []*answer
	// reserveCount is how many IDs the reserve has.
	reserveCount uint64
	// stripes is the value that spread points to when set. It is nil until then, and never changes after.
	stripes     *stripes
	isRefilling bool
	// stopRetry is set while the buffer waits after a failure.
	stopRetry     func()
	failuresInRow int
	lastFailure   *Error
	spell         spell
	// arrival is closed when waiters must look again.
	arrival                                           *arrival
	waiters                                           int
	reserved, dropped, refills, refillFailures, waits uint64
}

// noCopy makes `go vet` complain when its owner is copied.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewBuffer makes a buffer that draws from any source. The usual way to make one is [Client.Prefetch].
func NewBuffer(source RunSource, options BufferOptions) (*Buffer, error) {
	if options.Outage != 0 {
		setDefault(&options.MaxAge, max(2*options.Outage, options.Outage+30*time.Second))
	}
	setDefault(&options.MaxAge, 5*time.Second)
	setDefault(&options.StockMax, 10_000_000)
	setDefault(&options.CountMax, 65_536)
	setDefault(&options.CountMin, min(8, options.CountMax))
	setDefault(&options.Timeout, 5*time.Second)
	switch {
	case source == nil:
		return nil, errors.New("snowlane: a buffer needs a source")
	case options.Outage != 0 && (options.Outage < time.Second || options.Outage > 30*time.Minute):
		return nil, fmt.Errorf("snowlane: Outage is %v: it must be between 1 s and 30 min", options.Outage)
	case options.Outage != 0 && (options.MaxAge < options.Outage || options.MaxAge > time.Hour):
		return nil, fmt.Errorf("snowlane: MaxAge is %v: it must be between Outage and 1 h", options.MaxAge)
	case options.Outage == 0 && (options.MaxAge < 10*time.Millisecond || options.MaxAge > time.Minute):
		return nil, fmt.Errorf("snowlane: MaxAge is %v: it must be between 10 ms and 60 s", options.MaxAge)
	case options.StockMax < 1 || options.StockMax > stockMaxMax:
		return nil, fmt.Errorf("snowlane: StockMax is %d: it must be between 1 and %d", options.StockMax, stockMaxMax)
	case options.CountMax < 1 || options.CountMax > nextIDsMax:
		return nil, fmt.Errorf("snowlane: CountMax is %d: it must be between 1 and %d", options.CountMax, nextIDsMax)
	case options.CountMin < 1 || options.CountMin > options.CountMax:
		return nil, fmt.Errorf("snowlane: CountMin is %d: it must be between 1 and CountMax", options.CountMin)
	case options.Timeout < 0:
		return nil, fmt.Errorf("snowlane: Timeout is %v: it must be above 0", options.Timeout)
	}
	buffer := &Buffer{
		source:   source,
		clock:    options.Clock,
		random:   options.Random,
		observer: options.Observer,
		maxAge:   options.MaxAge,
		timeout:  options.Timeout,
		policy:   refillPolicy{countMin: options.CountMin, countMax: options.CountMax},
		arrival:  newArrival(),
	}
	if options.Outage != 0 {
		buffer.outage = newOutagePolicy(options)
	}
	if buffer.clock == nil {
		buffer.clock = SystemClock{}
	}
	if buffer.random == nil {
		buffer.random = rand.Float64
	}
	if buffer.observer == nil {
		buffer.observer = &ClientObserver{}
	}
	buffer.states = newStates(buffer.clock, buffer.observer, options.Logger)
	buffer.closing, buffer.close = context.WithCancel(context.Background())
	buffer.run.Store(&claimableRun{})
	return buffer, nil
}

func setDefault[T comparable](option *T, value T) {
	var zero T
	if *option == zero {
		*option = value
	}
}

// NextID hands out one ID: at once from stock, or else it waits for a reservation until the context ends. While several
// cores contend for IDs, those of different goroutines are in no particular order.
//
// It fails with CLIENT_CLOSED or CANCELLED; at the deadline, with the last failure of a reservation, or
// DEADLINE_EXCEEDED.
func (b *Buffer) NextID(ctx context.Context) (ID, error) {
	place := b.place()
	run := place.Load()
	index := run.cursor.Add(1) - 1
	if run.isPlain(index) {
		return ID(run.first + index*run.stride), nil
	}
	return b.nextSlowly(ctx, place, run, index)
}

// Ready waits until the buffer has an ID in stock, and takes none. A service that calls it before its first request has
// then already connected and reserved. It fails as [Buffer.NextID] does.
func (b *Buffer) Ready(ctx context.Context) error {
	var wait wait
	defer wait.end(b)
	b.waitForRun(ctx, &wait, &b.run)
	return wait.err
}

// TryNextID hands out one ID from stock and never waits. It returns false if there is none; a refill is then on its
// way.
func (b *Buffer) TryNextID() (ID, bool) {
	place := b.place()
	for run := place.Load(); ; {
		if start, end := b.claimFresh(run, 1); start < end {
			return ID(run.first + start*run.stride), true
		}
		b.mutex.Lock()
		run = b.stockFor(place)
		if run == nil {
			b.ask()
		}
		b.mutex.Unlock()
		if run == nil {
			return 0, false
		}
	}
}

// NextIDs hands out count IDs, 1 to 1,048,576, claimed in blocks; each block ascends. IDs that it had claimed when it
// fails are a gap.
func (b *Buffer) NextIDs(ctx context.Context, count int) ([]ID, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	ids := make([]ID, 0, count)
	var wait wait
	defer wait.end(b)
	for run := b.run.Load(); ; {
		start, end := b.claimFresh(run, uint64(count-len(ids)))
		for index := start; index < end; index++ {
			ids = append(ids, ID(run.first+index*run.stride))
		}
		if len(ids) == count {
			return ids, nil
		}
		if run = b.waitForRun(ctx, &wait, &b.run); run == nil {
			return nil, wait.err
		}
	}
}

// Stats takes a snapshot of the counters.
func (b *Buffer) Stats() BufferStats {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	stock := b.stock()
	return BufferStats{
		HandedOut: b.reserved - b.dropped - stock, Reserved: b.reserved, Dropped: b.dropped, Stock: stock,
		Refills: b.refills, RefillFailures: b.refillFailures, Waits: b.waits,
		RatePerSecond: b.policy.rate, MeanRTT: time.Duration(b.policy.meanRTTMS * float64(time.Millisecond)),
		OutageLeft: b.outageLeft(stock),
	}
}

func (b *Buffer) outageLeft(stock uint64) time.Duration {
	rate := b.policy.rate
	if b.outage != nil {
		rate = b.outage.rate()
	}
	switch {
	case stock == 0:
		return 0
	case rate == 0:
		return b.maxAge
	}
	left := float64(stock-b.reserveCount) / rate
	for piece := range b.youngPieces(b.maxAge) {
		usable := (b.maxAge - piece.asked.elapsed()).Seconds()
		left = max(left, min(left+float64(piece.left)/rate, usable))
	}
	return time.Duration(min(b.maxAge.Seconds(), left) * float64(time.Second))
}

// Close drops the stock; waiting callers get CLIENT_CLOSED. Closing again does nothing.
func (b *Buffer) Close() error {
	b.mutex.Lock()
	if b.closing.Err() != nil {
		b.mutex.Unlock()
		return nil
	}
	b.close()
	if b.stopRetry != nil {
		b.stopRetry()
	}
	if b.stopTopUp != nil {
		b.stopTopUp()
	}
	dropped := b.dropAll()
	b.wake(nil)
	b.mutex.Unlock()
	if b.onClose != nil {
		b.onClose()
	}
	b.notifyExpire(dropped)
	return nil
}

// place returns where the caller claims from.
func (b *Buffer) place() *atomic.Pointer[claimableRun] {
	if spread := b.spread.Load(); spread != nil {
		return spread.pick()
	}
	return &b.run
}

// nextSlowly continues where the fast path claimed an index that calls for a look at the age, or the low-water mark, or
// an index past the run's end.
//
//go:noinline
func (b *Buffer) nextSlowly(
	ctx context.Context, place *atomic.Pointer[claimableRun], run *claimableRun, index uint64,
) (ID, error) {
	if place == &b.run && index < run.count && index%lookEvery == 0 && run.isContended(index) {
		b.spreadCallers()
	}
	b.noteClaimed(run, min(index, run.count), min(index+1, run.count))
	isOld := index < run.count && run.looksAtAge(index) && b.isTooOld(run)
	if isOld {
		b.dropClaimed(run, 1)
	}
	var wait wait
	for isOld || index >= run.count {
		isOld = false
		if run = b.waitForRun(ctx, &wait, place); run == nil {
			break
		}
		index, _ = b.claim(run, 1)
	}
	wait.end(b)
	if run == nil {
		return 0, wait.err
	}
	return ID(run.first + index*run.stride), nil
}

// claim takes up to n IDs of a run: those with the indexes from start to end.
func (b *Buffer) claim(run *claimableRun, n uint64) (start, end uint64) {
	start, end = run.claim(n)
	b.noteClaimed(run, start, end)
	return start, end
}

// claimFresh claims like claim, but nothing if the IDs are too old. It checks their age as seldom as the fast path
// does.
func (b *Buffer) claimFresh(run *claimableRun, n uint64) (start, end uint64) {
	start, end = b.claim(run, n)
	if start == end || (n == 1 && !run.looksAtAge(start)) || !b.isTooOld(run) {
		return start, end
	}
	b.dropClaimed(run, end-start)
	return end, end
}

// noteClaimed asks for the next answer where the low-water mark is among the indexes that were claimed.
func (b *Buffer) noteClaimed(run *claimableRun, start, end uint64) {
	if run.hasMark(start, end) {
		b.mutex.Lock()
		defer b.mutex.Unlock()
		b.meetMark(run)
	}
}

// spreadCallers lets callers claim from blocks of the run, each in a stripe, until an answer lasts for its full age.
func (b *Buffer) spreadCallers() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.closing.Err() != nil {
		return
	}
	if b.stripes == nil {
		b.stripes = newStripes()
	}
	b.spread.Store(b.stripes)
}
