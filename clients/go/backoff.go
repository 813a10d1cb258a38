package snowlane

import "time"

const (
	backoffBase = 100 * time.Millisecond
	backoffMax  = 5 * time.Second
)

// backoff says how long to leave alone what has failed so many times in a row: drawn evenly from 0 to min(5 s, 100 ms x
// 2^failures), so that the clients of a server that restarts do not come back in step; but never shorter than the
// server asked for, and spread above that.
func backoff(failures int, retryAfter time.Duration, random func() float64) time.Duration {
	limit := min(backoffMax, backoffBase<<min(failures, 16))
	drawn := time.Duration(random() * float64(limit))
	return max(drawn, stretch(retryAfter, random))
}

// stretch makes a wait longer by up to a half.
func stretch(wait time.Duration, random func() float64) time.Duration {
	return wait + time.Duration(random()*float64(wait)/2)
}
