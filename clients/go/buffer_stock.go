package snowlane

import (
	"iter"
	"slices"
	"sync/atomic"
	"time"
)

// stockFor returns a run for a caller that claims at a place, or nil when there is no ID anywhere. It checks the run's
// age, because after a pause of the process claims come before the timers.
func (b *Buffer) stockFor(place *atomic.Pointer[claimableRun]) *claimableRun {
	for {
		run := b.anyRunFor(place)
		if run == nil || !b.isTooOld(run) {
			return run
		}
		dropped := b.dropOld(run.answer)
		// This runs without the mutex, because the observer may ask the buffer for its stats.
		go b.notifyExpire(dropped)
	}
}

// anyRunFor returns a run of any age. No ID lies idle while a caller waits: when the stock is dry, callers may claim
// from any stripe.
func (b *Buffer) anyRunFor(place *atomic.Pointer[claimableRun]) *claimableRun {
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

func (b *Buffer) isTooOld(run *claimableRun) bool {
	return run.answer != nil && run.answer.asked.elapsed() >= b.maxAge
}

// nextRun returns the run in place if it has IDs, or else puts the next run of the stock in place; nil when the stock
// is dry.
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
	if b.answer == nil {
		b.answer = b.takeNextAnswer()
	}
	if b.answer == nil {
		if used.count > 0 {
			b.replaceRun(&claimableRun{})
		}
		return nil
	}
	answer := b.answer
	if !answer.isUsed {
		answer.isUsed, answer.usedFrom = true, b.clock.Now()
		b.policy.noteInUse()
	}
	next := answer.runs[0]
	answer.runs = answer.runs[1:]
	answer.left -= uint64(next.Count)
	run := &claimableRun{
		first: uint64(next.First), stride: next.Stride, count: uint64(next.Count), mask: lookMask(b.policy.rate), answer: answer,
	}
	run.low = run.count
	if mark := b.markOf(answer); !answer.hasAsked && answer.left < mark {
		run.low = run.count + answer.left - min(mark, run.count+answer.left)
	}
	b.replaceRun(run)
	return run
}

// markOf is the low-water mark of an answer.
func (b *Buffer) markOf(answer *answer) uint64 {
	if answer.isOfReserve {
		return answer.count
	}
	return b.policy.lowWater(answer.count)
}

// takeNextAnswer takes the spare answer, or else the newest piece of the reserve; nil if there is none.
func (b *Buffer) takeNextAnswer() *answer {
	if spare := b.spare; spare != nil {
		b.spare = nil
		return spare
	}
	if len(b.reserve) == 0 {
		return nil
	}
	newest := b.reserve[len(b.reserve)-1]
	b.takeFromReserve(newest)
	return newest
}

// addReserve adds the pieces of an answer that was requested for the reserve. They are used in their order.
func (b *Buffer) addReserve(pieces []*answer) {
	for _, piece := range slices.Backward(pieces) {
		piece.isOfReserve = true
		b.reserveCount += piece.count
		b.reserve = append(b.reserve, piece)
	}
}

// takeFromReserve removes a piece, and reports whether it was there.
func (b *Buffer) takeFromReserve(piece *answer) bool {
	index := slices.Index(b.reserve, piece)
	if index < 0 {
		return false
	}
	b.reserve = slices.Delete(b.reserve, index, index+1)
	b.reserveCount -= piece.left
	return true
}

// youngPieces returns the pieces of the reserve that are younger than the given age, the newest first.
func (b *Buffer) youngPieces(age time.Duration) iter.Seq[*answer] {
	return func(yield func(*answer) bool) {
		for _, piece := range slices.Backward(b.reserve) {
			if piece.asked.elapsed() >= age || !yield(piece) {
				return
			}
		}
	}
}

// reserveState is the size of the reserve, and how many of its IDs are younger than the given age.
func (b *Buffer) reserveState(age time.Duration) reserveState {
	state := reserveState{pieceCount: len(b.reserve)}
	for piece := range b.youngPieces(age) {
		state.youngCount += piece.left
	}
	return state
}

// replaceRun closes the run in place and puts another there. It returns how many IDs of the first run no caller will
// get.
func (b *Buffer) replaceRun(next *claimableRun) uint64 {
	run := b.run.Load()
	b.run.Store(next)
	return run.count - run.close()
}

// stock counts the IDs at hand.
func (b *Buffer) stock() uint64 {
	count := b.run.Load().unclaimed() + b.stripes.unclaimed(nil) + b.reserveCount
	if b.answer != nil {
		count += b.answer.left
	}
	if b.spare != nil {
		count += b.spare.left
	}
	return count
}

// meetMark asks for the next answer. Exactly one claimer meets the low-water mark.
func (b *Buffer) meetMark(run *claimableRun) {
	answer := run.answer
	if answer.hasAsked {
		return
	}
	answer.hasAsked = true
	// If the mark is at its first ID, meeting it says nothing about the rate of use.
	if b.markOf(answer) < answer.count {
		b.policy.noteMark(answer.count, b.clock.Now().Sub(answer.usedFrom))
	}
	b.ask()
}

// drop ends an answer, and returns how many of its IDs no caller will get.
func (b *Buffer) drop(answer *answer) uint64 {
	if answer == nil {
		return 0
	}
	answer.stopExpiry()
	dropped := uint64(0)
	switch {
	case answer == b.answer:
		b.answer = nil
		dropped = answer.left + b.replaceRun(&claimableRun{}) + b.stripes.close(answer)
	case answer == b.spare:
		b.spare = nil
		dropped = answer.left
	case b.takeFromReserve(answer):
		dropped = answer.left
	default:
		dropped = b.stripes.close(answer)
	}
	b.dropped += dropped
	return dropped
}

// dropAll ends all answers, and returns how many IDs no caller will get.
func (b *Buffer) dropAll() uint64 {
	dropped := b.drop(b.answer) + b.drop(b.spare)
	for len(b.reserve) > 0 {
		dropped += b.drop(b.reserve[len(b.reserve)-1])
	}
	return dropped + b.gather()
}

// gather ends the blocks in the stripes, and lets all callers claim from one cursor again. It returns how many IDs no
// caller will get.
func (b *Buffer) gather() uint64 {
	b.spread.Store(nil)
	dropped := b.stripes.close(nil)
	b.dropped += dropped
	return dropped
}

// expire drops an answer that is too old.
func (b *Buffer) expire(answer *answer) {
	b.mutex.Lock()
	dropped := b.dropOld(answer)
	b.mutex.Unlock()
	b.notifyExpire(dropped)
}

// dropClaimed drops a run that is too old, and IDs of it that the caller has claimed and does not take.
func (b *Buffer) dropClaimed(run *claimableRun, claimed uint64) {
	b.mutex.Lock()
	b.dropped += claimed
	dropped := claimed + b.dropOld(run.answer)
	b.mutex.Unlock()
	b.notifyExpire(dropped)
}

// dropOld drops an answer that is too old. Doing it again does nothing.
func (b *Buffer) dropOld(answer *answer) uint64 {
	isInUse := answer == b.answer
	isThere := isInUse || answer == b.spare || slices.Contains(b.reserve, answer)
	dropped := b.drop(answer)
	if isInUse {
		// An answer lasted for its full age, so the rush for which callers were spread is over. Everything else in the
		// stripes is older.
		dropped += b.gather()
	}
	// If none of its IDs was claimed, no caller needs the next answer: the next caller wakes the buffer.
	switch {
	case isInUse && b.spare == nil:
		b.ask()
	case isThere && b.stock() == 0:
		b.policy.forget()
	case isThere:
		b.policy.noteHandedOut(b.handed())
	}
	return dropped
}

func (b *Buffer) notifyExpire(dropped uint64) {
	if dropped > 0 {
		notify(b.observer.OnExpire, ExpireEvent{Dropped: int(dropped)})
	}
}
