package snowlane

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

const (
	stripesPerCore = 8
	stripesMax     = 256
	// blockMax is how many IDs a stripe takes at a time: enough that taking a block costs little for each ID.
	blockMax = 256
	// One claimer in this many checks whether others claim at the same moment.
	lookEvery = 128
	// It checks this many times, which takes about 20 ns.
	looks = 32
	// A run is contended once this many claimers have seen others, but at least one per collisionShare IDs: a sixteenth
	// of those that checked.
	collisionsMin  = 8
	collisionShare = 16 * lookEvery
)

// stripes are further places from which callers claim. They are used when several cores write one cursor so often that
// they wait for its cache line. Each stripe holds a block of the run in use. A goroutine keeps to one stripe while it
// can, but does not own it: a claim is an atomic step wherever it is made.
//
// The buffer's mutex guards everything but claiming. A nil *stripes holds nothing.
//
// docs/adr/0070 has the figures, and what else was tried.
type stripes struct {
	places []stripe
	// shift reduces a 32-bit number to an index into places.
	shift uint32
}

// stripe has cache lines of its own: two, since processors fetch them in pairs.
type stripe struct {
	run atomic.Pointer[claimableRun]
	_   [120]byte
}

func newStripes() *stripes {
	made := &stripes{shift: 32}
	count := 1
	for count < min(stripesPerCore*runtime.GOMAXPROCS(0), stripesMax) {
		count *= 2
		made.shift--
	}
	made.places = make([]stripe, count)
	for index := range made.places {
		made.places[index].run.Store(&claimableRun{})
	}
	return made
}

// pick chooses a stripe by the address of the calling goroutine's stack, which no other goroutine shares. If the stack
// moves, the goroutine uses another stripe from then on; nothing else depends on it. 2 KiB is the smallest stack; the
// multiplier, 2^32 over the golden ratio, spreads neighbours.
func (s *stripes) pick() *atomic.Pointer[claimableRun] {
	var onStack byte
	hash := uint32(uintptr(unsafe.Pointer(&onStack))>>11) * 2_654_435_769
	return &s.places[hash>>(s.shift&31)].run
}

// blockSize is how many IDs of a run to take into a stripe: fewer towards its end, so that little is spread over many.
func (s *stripes) blockSize(run *claimableRun) uint64 {
	return min(max(run.unclaimed()/uint64(2*len(s.places)), 1), blockMax)
}

// put replaces a used-up block by one that was claimed from a run.
func (s *stripes) put(place *atomic.Pointer[claimableRun], run *claimableRun, start, end uint64) *claimableRun {
	count := end - start
	block := &claimableRun{
		first: run.first + start*run.stride, stride: run.stride, low: count, count: count, mask: run.mask, answer: run.answer,
	}
	place.Store(block)
	return block
}

// withStock returns a block that is not used up; nil if there is none.
func (s *stripes) withStock() *claimableRun {
	for block := range s.blocks {
		if block.unclaimed() > 0 {
			return block
		}
	}
	return nil
}

// unclaimed counts the IDs of an answer, or all where it is nil.
func (s *stripes) unclaimed(answer *answer) uint64 {
	count := uint64(0)
	for block := range s.blocks {
		if answer == nil || block.answer == answer {
			count += block.unclaimed()
		}
	}
	return count
}

// close ends the blocks of an answer, or of all answers if it is nil, and returns how many IDs no caller will get.
func (s *stripes) close(answer *answer) uint64 {
	dropped := uint64(0)
	for block := range s.blocks {
		if answer == nil || block.answer == answer {
			dropped += block.count - block.close()
		}
	}
	return dropped
}

func (s *stripes) blocks(yield func(*claimableRun) bool) {
	if s == nil {
		return
	}
	for index := range s.places {
		if !yield(s.places[index].run.Load()) {
			return
		}
	}
}
