package snowlane

import (
	"slices"
	"sync"
	"time"
)

const (
	// Clients that lose a server at the same moment move to the next one at random times within this span.
	moveSpread = 20 * time.Millisecond
	// A client moves to another server after a time between these two even without a failure, so that clients spread
	// again over servers that came back.
	stayMin = 5 * time.Minute
	stayMax = 15 * time.Minute
)

// endpoint is one server and its recent failures. Guarded by endpoints.mutex.
type endpoint struct {
	address endpointAddress
	// missedLooks counts the lookups in a row that did not return its address.
	missedLooks   int
	failuresInRow int
	// downUntil is when it is tried again; if that is past, it is up.
	downUntil   time.Time
	lastFailure *Error
}

// endpoints chooses among the servers of one deployment. It stays with one server, so that IDs rise, leaves it when it
// fails, and never returns to it in step with other clients. docs/internals/client-contract.md in the repository has
// the rules.
type endpoints struct {
	clock  Clock
	random func() float64

	// onGone, if set, is called with each endpoint whose address is gone, without the mutex.
	onGone func(*endpoint)

	mutex   sync.Mutex
	all     []*endpoint
	current *endpoint
	// announced was current when the observer last heard of it.
	announced *endpoint
	moveAt    time.Time
	// hasAnswered is set once any server has answered, with success or an error.
	hasAnswered bool
	// hedgesWonInRow counts refills whose second request was answered first, by another endpoint.
	hedgesWonInRow int
}

func newEndpoints(addresses []endpointAddress, clock Clock, random func() float64) *endpoints {
	e := &endpoints{clock: clock, random: random}
	for _, address := range addresses {
		e.all = append(e.all, &endpoint{address: address})
	}
	e.move(e.all)
	e.announced = e.current
	return e
}

// list returns all endpoints.
func (e *endpoints) list() []*endpoint {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	return slices.Clone(e.all)
}

// announce returns the endpoint in use, and reports whether it has changed since the last call.
func (e *endpoints) announce() (current *endpoint, isNew bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	isNew = e.current != e.announced
	e.announced = e.current
	return e.current, isNew
}

// areDown reports whether all of these endpoints are down.
func (e *endpoints) areDown(some []*endpoint) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	now := e.clock.Now()
	return !slices.ContainsFunc(some, func(one *endpoint) bool { return !one.downUntil.After(now) })
}

// replace puts endpoints in place of others. An endpoint that is in use and answers stays, and is returned.
func (e *endpoints) replace(gone, come []*endpoint) (stays *endpoint) {
	e.mutex.Lock()
	e.all = append(e.all, come...)
	gone = slices.DeleteFunc(slices.Clone(gone), func(one *endpoint) bool {
		isInUse := one == e.current && one.failuresInRow == 0 && one.address.ip.IsValid()
		if isInUse {
			stays = one
		}
		return isInUse
	})
	e.all = slices.DeleteFunc(e.all, func(one *endpoint) bool { return slices.Contains(gone, one) })
	if slices.Contains(gone, e.current) {
		isUnheard := e.announced == e.current && !e.current.address.ip.IsValid()
		e.move(e.all)
		// Replacing a name by its addresses does not count as a move.
		if isUnheard {
			e.announced = e.current
		}
	}
	e.mutex.Unlock()
	for _, one := range gone {
		if e.onGone != nil {
			e.onGone(one)
		}
	}
	return stays
}

// choose returns the next endpoint, how long to wait before calling it, and its last failure.
func (e *endpoints) choose() (chosen *endpoint, wait time.Duration, lastFailure *Error) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	now := e.clock.Now()
	var up []*endpoint
	first := e.all[0]
	isCurrentUp := false
	for _, candidate := range e.all {
		if candidate.downUntil.Before(first.downUntil) {
			first = candidate
		}
		if !candidate.downUntil.After(now) {
			up = append(up, candidate)
			isCurrentUp = isCurrentUp || candidate == e.current
		}
	}
	switch {
	case len(up) == 0:
		e.current = first
		wait = first.downUntil.Sub(now)
	case !isCurrentUp:
		e.move(up)
		wait = time.Duration(e.random() * float64(moveSpread))
	case !now.Before(e.moveAt):
		e.move(up)
	}
	return e.current, wait, e.current.lastFailure
}

// noteAnswer records that a server answered, with success or an error.
func (e *endpoints) noteAnswer() {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.hasAnswered = true
}

func (e *endpoints) noteSuccess(endpoint *endpoint) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.hasAnswered = true
	endpoint.failuresInRow = 0
	endpoint.lastFailure = nil
}

// noteFailure records that an attempt failed: the endpoint is down for a while. It returns the error; if there is no
// server at any endpoint and no server ever answered, it returns that of neverAnswered.
func (e *endpoints) noteFailure(failed *endpoint, failure *Error) *Error {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	failed.failuresInRow++
	failed.lastFailure = failure
	count := failed.failuresInRow
	if !e.hasAnswered && isAbsence(failure) {
		// Before the first answer, each call should fail within a second.
		count = min(count, 2)
	}
	failed.downUntil = e.clock.Now().Add(backoff(count, failure.RetryAfter, e.random))
	isThere := func(other *endpoint) bool { return !isAbsence(other.lastFailure) }
	if !e.hasAnswered && !slices.ContainsFunc(e.all, isThere) {
		failed.lastFailure = neverAnswered(failure)
	}
	return failed.lastFailure
}

// noteDarkConnection records that an attempt failed only because of its connection. The endpoint does not count as down
// for that, but the next attempt goes to another that is up, if there is one.
func (e *endpoints) noteDarkConnection(dark *endpoint) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	others := e.others(dark)
	if e.current == dark && len(others) > 0 {
		e.move(others)
	}
}

// noteHedge records which endpoint was the first to answer a refill. The client moves to one that wins twice in a row
// although it was asked later.
func (e *endpoints) noteHedge(winner *endpoint, isOther bool) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if !isOther {
		e.hedgesWonInRow = 0
		return
	}
	e.hedgesWonInRow++
	if e.hedgesWonInRow >= 2 {
		e.hedgesWonInRow = 0
		e.move([]*endpoint{winner})
	}
}

// othersUp returns the other endpoints that are up, in random order.
func (e *endpoints) othersUp(first *endpoint) []*endpoint {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	others := e.others(first)
	for last := len(others) - 1; last > 0; last-- {
		drawn := int(e.random() * float64(last+1))
		others[last], others[drawn] = others[drawn], others[last]
	}
	return others
}

func (e *endpoints) others(first *endpoint) []*endpoint {
	now := e.clock.Now()
	return slices.DeleteFunc(slices.Clone(e.all), func(other *endpoint) bool {
		return other == first || other.downUntil.After(now)
	})
}

func (e *endpoints) move(among []*endpoint) {
	e.current = among[int(e.random()*float64(len(among)))]
	stay := stayMin + time.Duration(e.random()*float64(stayMax-stayMin))
	e.moveAt = e.clock.Now().Add(stay)
}
