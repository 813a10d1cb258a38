package snowlane

import (
	"time"

	"google.golang.org/grpc/codes"
)

const (
	backoffBase = 100 * time.Millisecond
	backoffMax  = 2 * time.Second
	// The longest wait that a server may ask for. Its trouble may be over sooner, so a longer wait is cut to this.
	retryAfterMax = time.Second
	// The longest wait for a quota that counts; a longer one that a server asks for is cut to this.
	quotaWaitMax = 5 * time.Second
)

// backoff returns how long to wait after this many failures in a row: a time drawn evenly from 0 to min(2 s, 100 ms x
// 2^failures), so that the clients of a server that restarts do not come back in step. It is never shorter than the
// server asked for, of which at most 1 s counts, and is spread above that.
func backoff(failures int, retryAfter time.Duration, random func() float64) time.Duration {
	limit := min(backoffMax, backoffBase<<min(failures, 16))
	drawn := time.Duration(random() * float64(limit))
	return max(drawn, stretch(min(retryAfter, retryAfterMax), random))
}

// refillBackoff returns how long a buffer waits after this many reservations in a row have failed. Where a server was
// UNAVAILABLE, the client already avoids it for a while, so the buffer adds at most 100 ms: two back-offs would make
// callers wait for the sum. docs/adr/0222 has more.
func refillBackoff(failures int, failure *Error, random func() float64) time.Duration {
	switch {
	case isFirstMistake(failure):
		// Before the first answer, each call should fail within a second.
		return backoff(min(failures, 2), failure.RetryAfter, random)
	case failure.Code == codes.Unavailable && failure.Endpoint != "":
		return backoff(0, 0, random)
	default:
		return backoff(failures, failure.RetryAfter, random)
	}
}

// stretch makes a wait longer by up to half of it.
func stretch(wait time.Duration, random func() float64) time.Duration {
	return wait + time.Duration(random()*float64(wait)/2)
}
