package snowlane

import "time"

// answer is the runs of one reservation, or of one piece of it, on their way through a buffer: one age, one low-water
// mark. Guarded by the buffer's mutex, but for asked, which never changes.
type answer struct {
	// runs that have not been put in place yet.
	runs []Run
	// left is the IDs of runs; count is those of the whole answer.
	left, count uint64
	// hasAsked: the next answer has been asked for on behalf of this one.
	hasAsked bool
	// isOfReserve: a piece of the reserve asks for an answer with its first ID, for the working stock is empty then.
	isOfReserve bool
	// isUsed: its first run was put in place, at usedFrom.
	isUsed   bool
	usedFrom time.Time
	// asked is when the source was, before the first attempt.
	asked      moment
	stopExpiry func()
}

func newAnswer(runs []Run, asked moment) *answer {
	made := &answer{runs: runs, asked: asked, stopExpiry: func() {}}
	for _, run := range runs {
		made.count += uint64(run.Count)
	}
	made.left = made.count
	return made
}

// cutRuns cuts runs into pieces of so many IDs, the last one of what is left.
func cutRuns(runs []Run, size int) [][]Run {
	var pieces [][]Run
	room := 0
	for _, run := range runs {
		for run.Count > 0 {
			if room == 0 {
				pieces = append(pieces, nil)
				room = size
			}
			taken := min(room, run.Count)
			last := len(pieces) - 1
			pieces[last] = append(pieces[last], Run{First: run.First, Count: taken, Stride: run.Stride})
			run.First += ID(uint64(taken) * run.Stride)
			run.Count -= taken
			room -= taken
		}
	}
	return pieces
}
