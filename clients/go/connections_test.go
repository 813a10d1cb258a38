package snowlane

import (
	"context"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// connectionTrial makes calls over connections that a test leaves unanswered, by a clock that it sets.
type connectionTrial struct {
	*connections
	now      time.Time
	endpoint *endpoint
}

func newConnectionTrial(t *testing.T) *connectionTrial {
	trial := &connectionTrial{endpoint: &endpoint{}}
	open := func(*endpoint) (*grpc.ClientConn, error) {
		return grpc.NewClient("dns:///localhost:1", grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	trial.connections = newConnections(open, trial)
	t.Cleanup(func() { _ = trial.close() })
	return trial
}

func (c *connectionTrial) Now() time.Time { return c.now }

func (c *connectionTrial) AfterFunc(time.Duration, func()) func() { return func() {} }

// call is one call that ends with cause after a time; it returns the connection that it took.
func (c *connectionTrial) call(t *testing.T, takes time.Duration, cause error) (used *connection, isReplaced bool) {
	t.Helper()
	used, err := c.begin(c.endpoint)
	if err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(takes)
	return used, c.end(c.endpoint, used, cause)
}

func isClosed(used *connection) bool {
	err := used.channel.Invoke(context.Background(), "/x/y", nil, nil)
	return status.Code(err) == codes.Canceled
}

var (
	limit   = status.Error(codes.DeadlineExceeded, "no answer")
	broken  = status.Error(codes.Unavailable, "connection reset")
	refused = status.Error(codes.InvalidArgument, "no")
)

func TestAConnectionThatAnswersNothingForASecondIsReplacedAndClosed(t *testing.T) {
	for _, cause := range []error{limit, context.DeadlineExceeded, status.Error(codes.Canceled, "the caller left")} {
		trial := newConnectionTrial(t)
		first, _ := trial.call(t, 0, nil)
		if used, isReplaced := trial.call(t, time.Second, cause); used != first || !isReplaced || !isClosed(first) {
			t.Errorf("%v: replaced: %t", cause, isReplaced)
		}
		if used, _ := trial.call(t, 0, nil); used == first {
			t.Errorf("%v: the dark connection was taken again", cause)
		}
	}
}

func TestShortCallsThatRunOutInTurnAreOneSilence(t *testing.T) {
	trial := newConnectionTrial(t)
	first, _ := trial.call(t, 0, nil)
	var replaced []bool
	for range 4 {
		used, isReplaced := trial.call(t, 300*time.Millisecond, limit)
		replaced = append(replaced, isReplaced)
		if used != first {
			t.Error("another connection was taken early")
		}
	}
	if !slices.Equal(replaced, []bool{false, false, false, true}) {
		t.Error(replaced)
	}
}

func TestAnAnswerOfAnyKindEndsTheSilence(t *testing.T) {
	for _, answer := range []error{nil, refused} {
		trial := newConnectionTrial(t)
		first, _ := trial.call(t, 0, nil)
		for range 5 {
			trial.call(t, 600*time.Millisecond, limit)
			trial.call(t, 100*time.Millisecond, answer)
		}
		if used, _ := trial.call(t, 0, nil); used != first {
			t.Errorf("after %v", answer)
		}
	}
}

func TestCallsThatRunOutTogetherOpenOneConnection(t *testing.T) {
	trial := newConnectionTrial(t)
	first, _ := trial.call(t, 0, nil)
	for range 3 {
		if used, err := trial.begin(trial.endpoint); used != first || err != nil {
			t.Fatal(err)
		}
	}
	trial.now = trial.now.Add(2 * time.Second)
	var second *connection
	for range 3 {
		if isClosed(first) {
			t.Fatal("it was closed under a call")
		}
		if !trial.end(trial.endpoint, first, limit) {
			t.Error("a call was not informed that its connection is replaced")
		}
		used, _ := trial.call(t, 0, nil)
		if second != nil && used != second {
			t.Error("a third connection was opened")
		}
		second = used
	}
	if !isClosed(first) || second == first {
		t.Error("the dark connection is still there")
	}
}

func TestAConnectionThatHasNotAnsweredYetIsLeftAloneForTenSeconds(t *testing.T) {
	trial := newConnectionTrial(t)
	first, isReplaced := trial.call(t, 2*time.Second, limit)
	for range 4 {
		if isReplaced {
			t.Fatal("it was replaced early")
		}
		_, isReplaced = trial.call(t, 2*time.Second, limit)
	}
	if used, _ := trial.call(t, 0, nil); used == first {
		t.Error("it was never replaced")
	}
}

func TestAConnectionThatEndedCountsAsANewOne(t *testing.T) {
	trial := newConnectionTrial(t)
	first, _ := trial.call(t, 0, nil)
	trial.call(t, 0, broken)
	if used, isReplaced := trial.call(t, 2*time.Second, limit); used != first || isReplaced {
		t.Error("it was replaced")
	}
}

func TestNewConnectionsThatAnswerNothingGetLongerEachTime(t *testing.T) {
	trial := newConnectionTrial(t)
	trial.call(t, 0, nil)
	trial.call(t, time.Second, limit)
	for _, seconds := range []int{2, 4, 8, 8} {
		// It is opened, and nothing is asked of it until it is old enough.
		used, _ := trial.call(t, 0, limit)
		used.isSilent = false
		trial.now = trial.now.Add(openingTime)
		if _, isReplaced := trial.call(t, time.Duration(seconds)*time.Second-500*time.Millisecond, limit); isReplaced {
			t.Errorf("replaced before %d s", seconds)
		}
		if _, isReplaced := trial.call(t, 500*time.Millisecond, limit); !isReplaced {
			t.Errorf("not replaced after %d s", seconds)
		}
	}
}

func TestABackOffIsAtMostTwoSeconds(t *testing.T) {
	most := func() float64 { return 1 }
	for _, row := range []struct {
		failures         int
		retryAfter, want time.Duration
	}{
		{0, 0, 100 * time.Millisecond}, {3, 0, 800 * time.Millisecond}, {5, 0, 2 * time.Second}, {1_000, 0, 2 * time.Second},
		{0, 400 * time.Millisecond, 600 * time.Millisecond}, {0, 20 * time.Second, 1500 * time.Millisecond},
	} {
		if found := backoff(row.failures, row.retryAfter, most); found != row.want {
			t.Errorf("%+v: %v", row, found)
		}
	}
	none := func() float64 { return 0 }
	if found := backoff(0, 20*time.Second, none); found != time.Second {
		t.Errorf("%v: a back-off is never shorter than the part that counts", found)
	}
}

func TestABufferAddsAtMostATenthOfASecondToTheBackOffOfAServer(t *testing.T) {
	most := func() float64 { return 1 }
	failure := Error{Reason: StoreUnavailable, Code: codes.Unavailable, RetryAfter: time.Second, Endpoint: "http://a"}
	if found := refillBackoff(5, &failure, most); found != 100*time.Millisecond {
		t.Errorf("%v for a server that is left alone already", found)
	}
	mistake := Error{Reason: Unreachable, Code: codes.Unavailable, Endpoint: "http://a", Metadata: map[string]string{"answered": "never"}}
	if found := refillBackoff(5, &mistake, most); found != 400*time.Millisecond {
		t.Errorf("%v for a mistake before the first answer", found)
	}
	ofSource, ofQuota := failure, failure
	ofSource.Endpoint, ofQuota.Code = "", codes.ResourceExhausted
	for _, other := range []*Error{&ofSource, &ofQuota} {
		if found := refillBackoff(5, other, most); found != 2*time.Second {
			t.Errorf("%v: %v", other, found)
		}
	}
}
