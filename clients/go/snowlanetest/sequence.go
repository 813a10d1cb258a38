package snowlanetest

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
)

// Value gives one value; for scripts of sequences.
func Value(value snowlane.SequenceValue) Step {
	return Step{values: []snowlane.SequenceValue{value}}
}

// Values gives count values without text: first + i*increment; for scripts of sequences.
func Values(first int64, count int, increment int64) Step {
	values := make([]snowlane.SequenceValue, count)
	for index := range values {
		values[index].Value = first + int64(index)*increment
	}
	return Step{values: values}
}

// AddSequence sets the script of the sequence of that name: steps of [Value], [Values], [Fail] and [Delay]. A sequence
// without a script fails with SEQUENCE_NOT_FOUND, and one whose script has ended with SCRIPT_ENDED.
func (c *Client) AddSequence(name string, script ...Step) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.sequences == nil {
		c.sequences = map[string]*sequence{}
	}
	c.sequences[name] = &sequence{name: name, client: c, steps: script}
}

// Sequence returns the sequence whose script AddSequence has set.
func (c *Client) Sequence(name string) snowlane.Sequence {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if found, ok := c.sequences[name]; ok {
		return found
	}
	return &sequence{name: name, client: c, absent: true}
}

// sequence replaces a server's sequence.
type sequence struct {
	name   string
	client *Client
	absent bool

	mutex sync.Mutex
	steps []Step
}

func (s *sequence) Name() string {
	return s.name
}

func (s *sequence) NextValue(ctx context.Context) (snowlane.SequenceValue, error) {
	values, err := s.take(ctx, 1)
	if err != nil {
		return snowlane.SequenceValue{}, err
	}
	return values[0], nil
}

// NextValueFor returns the next value of the script, for any time.
func (s *sequence) NextValueFor(ctx context.Context, _ time.Time) (snowlane.SequenceValue, error) {
	return s.NextValue(ctx)
}

// NextTextFor returns the text of the next value of the script, for any time.
func (s *sequence) NextTextFor(ctx context.Context, _ time.Time) (string, error) {
	return s.NextText(ctx)
}

func (s *sequence) NextText(ctx context.Context) (string, error) {
	value, err := s.NextValue(ctx)
	if err == nil && value.Text == "" {
		return "", failure(snowlane.InvalidSequence, codes.InvalidArgument, "the script gives a value without a text")
	}
	return value.Text, err
}

func (s *sequence) NextValues(ctx context.Context, count int) ([]snowlane.SequenceValue, error) {
	if err := checkCount(count); err != nil {
		return nil, err
	}
	var all []snowlane.SequenceValue
	for len(all) < count {
		values, err := s.take(ctx, count-len(all))
		if err != nil {
			return nil, err
		}
		all = append(all, values...)
	}
	return all, nil
}

func (s *sequence) Stream(
	ctx context.Context, count int, options snowlane.StreamOptions,
) iter.Seq2[[]snowlane.SequenceValue, error] {
	size := options.ChunkSize
	if size == 0 {
		size = 4_096
	}
	return func(yield func([]snowlane.SequenceValue, error) bool) {
		if count < 1 {
			yield(nil, checkCount(count))
			return
		}
		for left := count; left > 0; {
			values, err := s.take(ctx, min(left, size))
			left -= len(values)
			if !yield(values, err) || err != nil {
				return
			}
		}
	}
}

// Reserve returns the values of the script up to the next fault, delay, other period or its end; at most count.
func (s *sequence) Reserve(ctx context.Context, count int) (snowlane.ReservedValues, error) {
	if err := checkCount(count); err != nil {
		return snowlane.ReservedValues{}, err
	}
	values, err := s.take(ctx, count)
	if err != nil {
		return snowlane.ReservedValues{}, err
	}
	reserved := snowlane.ReservedValues{PeriodKey: values[0].PeriodKey}
	for _, value := range values {
		reserved.Runs = append(reserved.Runs, snowlane.ValueRun{FirstValue: value.Value, Count: 1, Increment: 1})
	}
	return reserved, nil
}

// take takes up to count values of one period, after the delays before them.
func (s *sequence) take(ctx context.Context, count int) ([]snowlane.SequenceValue, error) {
	for {
		values, wait, err := s.takeNow(count)
		if wait == 0 {
			return values, err
		}
		if err := s.client.pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func (s *sequence) takeNow(count int) (values []snowlane.SequenceValue, wait time.Duration, err error) {
	if s.client.isClosed() {
		return nil, 0, failure(snowlane.ClientClosed, codes.Canceled, "the client is closed")
	}
	if s.absent {
		return nil, 0, failure(snowlane.SequenceNotFound, codes.NotFound, "there is no script for the sequence "+s.name)
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for len(values) < count && len(s.steps) > 0 && len(s.steps[0].values) > 0 {
		step := &s.steps[0]
		if len(values) > 0 && step.values[0].PeriodKey != values[0].PeriodKey {
			break
		}
		taken := min(count-len(values), len(step.values))
		values = slices.Concat(values, step.values[:taken])
		step.values = step.values[taken:]
		if len(step.values) == 0 {
			s.steps = s.steps[1:]
		}
	}
	if len(values) > 0 {
		return values, 0, nil
	}
	if len(s.steps) == 0 {
		const message = "the script has ended: the code under test takes more values than it says"
		return nil, 0, failure(snowlane.ScriptEnded, codes.FailedPrecondition, message)
	}
	step := s.steps[0]
	s.steps = s.steps[1:]
	switch {
	case step.fault != nil:
		return nil, 0, step.fault
	case step.delay > 0:
		return nil, step.delay, nil
	default:
		return nil, 0, failure(snowlane.ScriptEnded, codes.FailedPrecondition, "the script has a step that gives no value")
	}
}

func failure(reason snowlane.Reason, code codes.Code, message string) *snowlane.Error {
	return &snowlane.Error{Reason: reason, Code: code, Message: message}
}

func checkCount(count int) error {
	if count >= 1 && count <= 1_048_576 {
		return nil
	}
	err := failure(snowlane.CountOutOfRange, codes.InvalidArgument, "the count is not from 1 to 1048576")
	err.Metadata = map[string]string{"count": fmt.Sprint(count), "count_max": "1048576"}
	return err
}
