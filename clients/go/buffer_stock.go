package snowlane

import (
	"slices"
	"sync/atomic"
)

// answer is the runs of one reservation on their way through a buffer: one age, one low-water mark. Guarded by the
// buffer's mutex.
type answer struct {
	// runs that have not been put in place yet.
	runs []Run
	// left is the IDs of runs; count is those of the whole answer.
	left, count uint64
	// hasAsked: the next answer has been asked for on behalf of this one.
	hasAsked   bool
	stopExpiry func()
}

// stockFor gives a run to claim from to a caller that claims at a place; nil when there is no ID anywhere. Nothing lies
// idle while a caller waits: when dry, what other stripes hold is for all.
func (b *Buffer) stockFor(place *atomic.Pointer[claimableRun]) *claimableRun {
	if run := place.Load(); run.unclaimed() > 0 {
		return run
	}
	for run := b.nextRun(); run != nil; run = b.nextRun() {
		if place == &b.run {
			return run
		}
		start, end := run.claim(b.stripes.blockSize(run))
		if start < end {
			if run.hasMark(start, end) {
				b.meetMark(run)
			}
			return b.stripes.put(place, run, start, end)
		}
	}
	return b.stripes.withStock()
}

// nextRun gives the run in place if it has stock, else puts the next of the answers there; nil when dry.
func (b *Buffer) nextRun() *claimableRun {
	used := b.run.Load()
	if used.unclaimed() > 0 {
		return used
	}
	if b.answer != nil && len(b.answer.runs) == 0 {
		if b.stripes.unclaimed(b.answer) == 0 {
			b.answer.stopExpiry()
		}
		b.answer = nil
	}
	if b.answer == nil && len(b.spares) > 0 {
		b.answer, b.spares = b.spares[0], b.spares[1:]
	}
	if b.answer == nil {
		if used.count > 0 {
			b.replaceRun(&claimableRun{})
		}
		return nil
	}
	answer := b.answer
	next := answer.runs[0]
	answer.runs = answer.runs[1:]
	answer.left -= uint64(next.Count)
	run := &claimableRun{first: uint64(next.First), stride: next.Stride, count: uint64(next.Count), answer: answer}
	run.low = run.count
	if mark := b.policy.lowWater(answer.count); !answer.hasAsked && answer.left < mark {
		run.low = run.count + answer.left - min(mark, run.count+answer.left)
	}
	b.replaceRun(run)
	return run
}

// replaceRun closes the run in place and puts another there. It tells how many IDs of the one before nobody will get.
func (b *Buffer) replaceRun(next *claimableRun) uint64 {
	run := b.run.Load()
	b.run.Store(next)
	return run.count - run.close()
}

// stock counts the IDs at hand.
func (b *Buffer) stock() uint64 {
	count := b.run.Load().unclaimed() + b.stripes.unclaimed(nil)
	if b.answer != nil {
		count += b.answer.left
	}
	for _, answer := range b.spares {
		count += answer.left
	}
	return count
}

// meetMark asks for the next answer: exactly one claimer meets the low-water mark.
func (b *Buffer) meetMark(run *claimableRun) {
	if !run.answer.hasAsked {
		run.answer.hasAsked = true
		b.ask()
	}
}

// drop ends an answer and tells how many of its IDs nobody will get.
func (b *Buffer) drop(answer *answer) uint64 {
	if answer == nil {
		return 0
	}
	answer.stopExpiry()
	dropped := uint64(0)
	spare := slices.Index(b.spares, answer)
	switch {
	case answer == b.answer:
		b.answer = nil
		dropped = answer.left + b.replaceRun(&claimableRun{}) + b.stripes.close(answer)
	case spare >= 0:
		b.spares = slices.Delete(b.spares, spare, spare+1)
		dropped = answer.left
	default:
		dropped = b.stripes.close(answer)
	}
	b.dropped += dropped
	return dropped
}

// gather ends what is in the stripes, and lets all callers claim from one cursor again. It tells how many IDs nobody
// will get.
func (b *Buffer) gather() uint64 {
	b.spread.Store(nil)
	dropped := b.stripes.close(nil)
	b.dropped += dropped
	return dropped
}

// expire drops an answer that is too old.
func (b *Buffer) expire(answer *answer) {
	b.mutex.Lock()
	isInUse, isSpare := answer == b.answer, slices.Contains(b.spares, answer)
	dropped := b.drop(answer)
	if isInUse {
		// The rush is over for which callers were spread: an answer lasted. What else the stripes hold is older.
		dropped += b.gather()
	}
	// Where nothing of it was claimed nobody needs the next one: the first caller wakes the buffer.
	if isInUse && len(b.spares) == 0 {
		b.ask()
	} else if isInUse || isSpare {
		b.measure()
	}
	b.mutex.Unlock()
	b.notifyExpire(dropped)
}

func (b *Buffer) notifyExpire(dropped uint64) {
	if dropped > 0 {
		notify(b.observer.OnExpire, ExpireEvent{Dropped: int(dropped)})
	}
}
