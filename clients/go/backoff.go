package snowlane

import (
	"time"

	"google.golang.org/grpc/codes"
)

const (
	backoffBase = 100 * time.Millisecond
	backoffMax  = 2 * time.Second
	// A server may ask for longer than its trouble lasts: it is asked again after so long.
	retryAfterMax = time.Second
	// Of the delay that a server says for a quota, so much counts.
	quotaWaitMax = 5 * time.Second
)

// backoff says how long to leave alone what has failed so many times in a row: drawn evenly from 0 to min(2 s, 100 ms x
// 2^failures), so that the clients of a server that restarts do not come back in step; but never shorter than the
// server asked for, of which at most 1 s counts, and spread above that.
func backoff(failures int, retryAfter time.Duration, random func() float64) time.Duration {
	limit := min(backoffMax, backoffBase<<min(failures, 16))
	drawn := time.Duration(random() * float64(limit))
	return max(drawn, stretch(min(retryAfter, retryAfterMax), random))
}

// refillBackoff says how long a buffer waits after so many reservations in a row have failed. Where a server was
// UNAVAILABLE, the client leaves it alone already, so the buffer adds at most 100 ms: two back-offs would make callers
// wait for the sum. docs/adr/0222 has more.
func refillBackoff(failures int, failure *Error, random func() float64) time.Duration {
	switch {
	case isFirstMistake(failure):
		// Before the first answer, each call is to fail within a second.
		return backoff(min(failures, 2), failure.RetryAfter, random)
	case failure.Code == codes.Unavailable && failure.Endpoint != "":
		return backoff(0, 0, random)
	default:
		return backoff(failures, failure.RetryAfter, random)
	}
}

// stretch makes a wait longer by up to a half.
func stretch(wait time.Duration, random func() float64) time.Duration {
	return wait + time.Duration(random()*float64(wait)/2)
}
