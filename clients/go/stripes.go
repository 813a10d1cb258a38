package snowlane

import (
	"runtime"
	"sync/atomic"
	"unsafe"
)

const (
	stripesPerCore = 8
	stripesMax     = 256
	// blockMax is how many IDs a stripe takes at a time: so many that taking them costs little for each.
	blockMax = 256
	// One claimer of so many looks whether others claim at the same moment.
	lookEvery = 128
	// It looks so often, for some 20 ns.
	looks = 32
	// A run is contended for once so many claimers found others, and one of so many IDs: a sixteenth of those that
	// looked.
	collisionsMin  = 8
	collisionShare = 16 * lookEvery
)

// stripes are further places from which callers claim, for when several cores write one cursor so often that they wait
// for its cache line. Each holds a block of the run in use. A goroutine keeps to one of them while it can, but none
// owns one: a claim is an atomic step wherever it is made.
//
// All but claiming is guarded by the buffer's mutex. A nil *stripes holds nothing.
//
// docs/adr/0070 has the figures, and what else was tried.
type stripes struct {
	places []stripe
	// shift leaves of 32 bits as many as there are places.
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

// pick chooses by the goroutine that calls: its stack lies where no other's does. Where a stack moves, the goroutine
// goes on elsewhere, and nothing else depends on it. 2 KiB is the smallest stack; the multiplier, 2^32 over the golden
// ratio, spreads neighbours.
func (s *stripes) pick() *atomic.Pointer[claimableRun] {
	var onStack byte
	hash := uint32(uintptr(unsafe.Pointer(&onStack))>>11) * 2_654_435_769
	return &s.places[hash>>(s.shift&31)].run
}

// blockSize is how many IDs of a run to take into a stripe: fewer towards its end, so that little is spread over many.
func (s *stripes) blockSize(run *claimableRun) uint64 {
	return min(max(run.unclaimed()/uint64(2*len(s.places)), 1), blockMax)
}

// put places the block of a run that was claimed for it, where the block before is used up.
func (s *stripes) put(place *atomic.Pointer[claimableRun], run *claimableRun, start, end uint64) *claimableRun {
	count := end - start
	block := &claimableRun{
		first: run.first + start*run.stride, stride: run.stride, low: count, count: count, mask: run.mask, answer: run.answer,
	}
	place.Store(block)
	return block
}

// withStock gives a block that is not used up; nil if there is none.
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

// close ends the blocks of an answer, or of all answers where it is nil, and tells how many IDs nobody will get.
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
