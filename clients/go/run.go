package snowlane

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
)

// Run is IDs in arithmetic progression: First + i*Stride, for i from 0 to Count-1.
type Run struct {
	First ID
	// Count is at least 1.
	Count int
	// Stride is at least 1.
	Stride uint64
}

// idMin is the lowest ID that is accepted from a server: a message without an ID reads as 0.
const idMin ID = 1

// RunSource is the source that a Buffer draws from.
type RunSource interface {
	// Reserve reserves 1 to count IDs, as runs in the order in which to use them. They belong to the caller, used or
	// not; no ID is ever returned twice.
	Reserve(ctx context.Context, count int) ([]Run, error)
}

// countOfAnswer counts the IDs of an answer, and checks its rules: at least one run; counts and strides of at least 1;
// no ID of 0 or above MaxID; no two runs that overlap; at most asked IDs in all. An answer that breaks a rule must be
// dropped whole.
func countOfAnswer(runs []Run, asked int) (uint64, error) {
	sum := uint64(0)
	next := idMin
	for _, run := range slices.SortedFunc(slices.Values(runs), func(a, b Run) int { return cmp.Compare(a.First, b.First) }) {
		sound := run.Count >= 1 && run.Count <= asked && run.Stride >= 1 && run.First <= MaxID && run.First >= next
		if !sound || uint64(run.Count-1) > uint64(MaxID-run.First)/run.Stride {
			return 0, invalidResponse("the server sent an impossible run", map[string]string{
				"first_id": run.First.String(), "count": fmt.Sprint(run.Count), "stride": fmt.Sprint(run.Stride),
			})
		}
		sum += uint64(run.Count)
		next = run.First + ID(uint64(run.Count-1)*run.Stride) + 1
	}
	if sum >= 1 && sum <= uint64(asked) {
		return sum, nil
	}
	message := fmt.Sprintf("the server sent %d IDs where 1 to %d were asked for", sum, asked)
	return 0, invalidResponse(message, map[string]string{"count": fmt.Sprint(sum), "asked_count": fmt.Sprint(asked)})
}

// closedCursor is above every count, and so far below the maximum that no number of claims overflows it.
const closedCursor = 1 << 63

// claimableRun is a run in a place from which callers claim. Only the cursor and the fields beside it ever change; they
// have a cache line of their own.
type claimableRun struct {
	first, stride uint64
	// low is the index whose claimer asks for the next answer: the low-water mark, or count where the mark is not in
	// this run.
	low, count uint64
	// mask has no bit in common with the indexes whose claimer checks the age and the contention.
	mask   uint64
	answer *answer
	_      [16]byte
	cursor atomic.Uint64
	// collisions counts claims that were immediately followed by others.
	collisions atomic.Uint64
	_          [48]byte
}

// claim takes up to n IDs: those with the indexes from start to end. None if start == end.
func (r *claimableRun) claim(n uint64) (start, end uint64) {
	start = r.cursor.Add(n) - n
	return min(start, r.count), min(start+n, r.count)
}

// isPlain reports whether the claimer of an index only has to take its ID.
func (r *claimableRun) isPlain(index uint64) bool {
	return index < r.count && index != r.low && !r.looksAtAge(index)
}

// looksAtAge reports whether the claimer of an index checks the age.
func (r *claimableRun) looksAtAge(index uint64) bool {
	return index&r.mask == 0
}

// close ends the run for all callers that still hold it, and returns how many of its IDs had been claimed. Closing it
// again returns count.
func (r *claimableRun) close() uint64 {
	return min(r.cursor.Swap(closedCursor), r.count)
}

// claimed returns how many IDs have been claimed; once the run is closed, count.
func (r *claimableRun) claimed() uint64 {
	return min(r.cursor.Load(), r.count)
}

// unclaimed returns how many IDs can still be claimed.
func (r *claimableRun) unclaimed() uint64 {
	return r.count - r.claimed()
}

// hasMark reports whether the low-water mark is among the indexes from start to end.
func (r *claimableRun) hasMark(start, end uint64) bool {
	return start <= r.low && r.low < end
}

// isContended checks whether other claims immediately followed the claim of an index, and returns true once that was
// seen often enough. It is called for one in lookEvery indexes.
func (r *claimableRun) isContended(index uint64) bool {
	// The first look would come before the other core has got the cache line.
	for range looks {
		if r.cursor.Load() != index+1 {
			return r.collisions.Add(1) == max(collisionsMin, r.count/collisionShare)
		}
	}
	return false
}

// lookMask returns the mask for a rate at which IDs are handed out: one claimer in 10 ms of use checks the age, and at
// least one in 64. docs/adr/0240 says what that costs.
func lookMask(rate float64) uint64 {
	const perSecond, claimsMax = 100, 64
	claims := uint64(min(rate/perSecond, claimsMax))
	if claims < 2 {
		return 0
	}
	return 1<<(bits.Len64(claims)-1) - 1
}
