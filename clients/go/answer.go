package snowlane

import "time"

// answer is the runs of one reservation, or of one piece of it, on their way through a buffer. They share one age and
// one low-water mark. The buffer's mutex guards all fields but asked, which never changes.
type answer struct {
	// runs are those that have not been put in place yet.
	runs []Run
	// left is how many IDs runs has; count is how many the whole answer has.
	left, count uint64
	// hasAsked is set once this answer has caused the request for the next one.
	hasAsked bool
	// isOfReserve is set in a piece of the reserve. Such a piece asks for the next answer at its first ID, because the
	// working stock is then empty.
	isOfReserve bool
	// isUsed is set once its first run was put in place, at usedFrom.
	isUsed   bool
	usedFrom time.Time
	// asked is when the source was asked, before the first attempt.
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

// cutRuns cuts runs into pieces of size IDs; the last piece has the rest.
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
