package snowlane

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// State is the state of a client or a buffer; see [StateEvent].
type State string

const (
	// StateFailing: refills of a buffer fail, three in a row or for a second.
	StateFailing State = "failing"
	// StateWorking: the refills of a buffer that failed work again.
	StateWorking State = "working"
	// StateMoved: from now on, the client calls another endpoint.
	StateMoved State = "moved"
	// StateReplaced: a connection that answered nothing is replaced by another.
	StateReplaced State = "replaced"
	// StateMismatch: a server of another deployment answered, and its answer was dropped.
	StateMismatch State = "mismatch"
)

// The shortest time between two lines of one kind in a log.
const logPause = time.Minute

// stateLines has the text and the level of the log line for each state.
var stateLines = map[State]struct {
	level slog.Level
	text  string
}{
	StateFailing:  {slog.LevelWarn, "snowlane: refills fail"},
	StateWorking:  {slog.LevelInfo, "snowlane: refills work again"},
	StateMoved:    {slog.LevelInfo, "snowlane: another endpoint is in use"},
	StateReplaced: {slog.LevelInfo, "snowlane: a connection that answered nothing is replaced"},
	StateMismatch: {slog.LevelError, "snowlane: a server is of another deployment, and its answer was dropped"},
}

// states reports the state of a client to the observer and the log.
type states struct {
	clock    Clock
	observer *ClientObserver
	// logger is nil for the program's default logger, which is looked up for each line.
	logger *slog.Logger

	mutex    sync.Mutex
	loggedAt map[State]time.Time
}

func newStates(clock Clock, observer *ClientObserver, logger *slog.Logger) *states {
	return &states{clock: clock, observer: observer, logger: logger, loggedAt: map[State]time.Time{}}
}

// tell must be called without a lock: the observer may call the client.
func (s *states) tell(event StateEvent) {
	notify(s.observer.OnState, event)
	if !s.isDue(event.State) {
		return
	}
	logger := s.logger
	if logger == nil {
		logger = slog.Default()
	}
	var details []slog.Attr
	if event.Reason != "" {
		details = append(details, slog.String("reason", string(event.Reason)))
	}
	if event.Endpoint != "" {
		details = append(details, slog.String("endpoint", event.Endpoint))
	}
	if event.Duration > 0 {
		details = append(details, slog.Duration("duration", event.Duration))
	}
	line := stateLines[event.State]
	logger.LogAttrs(context.Background(), line.level, line.text, details...)
}

// isDue reports whether the log may get a line of this kind again.
func (s *states) isDue(state State) bool {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	now := s.clock.Now()
	if at, isLater := s.loggedAt[state]; isLater && now.Sub(at) < logPause {
		return false
	}
	s.loggedAt[state] = now
	return true
}

// spell is how long refills have failed in a row, as a buffer counts it.
type spell struct {
	// since is when the first refill was sent that failed.
	since  time.Time
	isTold bool
}

// failed records that a refill failed, and returns whether to report it, which is once a spell.
func (s *spell) failed(askedAt, now time.Time, failuresInRow int) bool {
	const failuresMin, lastMin = 3, time.Second
	if failuresInRow == 1 {
		*s = spell{since: askedAt}
	}
	if s.isTold || (failuresInRow < failuresMin && now.Sub(s.since) < lastMin) {
		return false
	}
	s.isTold = true
	return true
}

// worked records that a refill succeeded, and returns how long refills had failed; 0 if that was never reported.
func (s *spell) worked(now time.Time) time.Duration {
	told := *s
	*s = spell{}
	if !told.isTold {
		return 0
	}
	return max(1, now.Sub(told.since))
}
