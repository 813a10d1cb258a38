package snowlane

import (
	"context"
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"testing"
	"time"
)

// stockHistory is one of test/vectors/stock.json, whose README says what its steps are.
type stockHistory struct {
	Name    string
	Options struct {
		CountMin, CountMax, MaxAgeMS, OutageMS, StockMax int
	}
	Steps []stockStep
}

type stockStep struct {
	what string
	atMS int64
	keys stockKeys
}

// stockKeys are the arguments and results of a step.
type stockKeys struct {
	Count     int
	AskedAtMS int64
	PieceSize int
	Runs, IDs [][3]any
	IsDue     bool
	Dropped   uint64
	Stock     uint64
}

func (s *stockStep) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&s.what, &s.atMS, &s.keys})
}

// stockClock shows the time that a test sets. No timer runs.
type stockClock struct {
	now time.Time
}

func (c *stockClock) Now() time.Time { return c.now }

func (c *stockClock) AfterFunc(time.Duration, func()) func() { return func() {} }

// silentSource never answers.
type silentSource struct{}

func (silentSource) Reserve(ctx context.Context, _ int) ([]Run, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// stockPlayer plays a history by the parts of a buffer, without timers and without a source.
type stockPlayer struct {
	*Buffer
	clock   *stockClock
	asked   map[int64]moment
	answers []*answer
}

func newStockPlayer(t *testing.T, history stockHistory) *stockPlayer {
	t.Helper()
	clock := &stockClock{now: time.UnixMilli(0)}
	options := history.Options
	buffer, err := NewBuffer(silentSource{}, BufferOptions{
		CountMin: options.CountMin, CountMax: options.CountMax, StockMax: options.StockMax, Clock: clock,
		MaxAge: time.Duration(options.MaxAgeMS) * time.Millisecond, Outage: time.Duration(options.OutageMS) * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { buffer.Close() })
	// It sends nothing by itself.
	buffer.isRefilling = true
	return &stockPlayer{Buffer: buffer, clock: clock, asked: map[int64]moment{}}
}

func (p *stockPlayer) noteAsked(atMS int64) {
	p.policy.noteHandedOut(p.handed())
	p.asked[atMS] = newMoment(p.clock)
}

func (p *stockPlayer) answerTo(keys stockKeys) {
	var runs []Run
	for _, run := range keys.Runs {
		first, _ := strconv.ParseUint(run[0].(string), 10, 64)
		runs = append(runs, Run{First: ID(first), Count: int(run[1].(float64)), Stride: uint64(run[2].(float64))})
	}
	asked := p.asked[keys.AskedAtMS]
	p.policy.noteRoundTrip(p.clock.now.Sub(asked.at))
	var made []*answer
	if keys.PieceSize == 0 {
		made = []*answer{newAnswer(runs, asked)}
		p.spare = made[0]
	} else {
		for _, piece := range cutRuns(runs, keys.PieceSize) {
			made = append(made, newAnswer(piece, asked))
		}
		p.addReserve(made)
	}
	for _, answer := range made {
		p.reserved += answer.count
	}
	p.answers = append(p.answers, made...)
}

// claim takes IDs one by one, until none are left, as stretches.
func (p *stockPlayer) claim(count int) [][3]any {
	stretches := [][3]any{}
	last, stride, length := uint64(0), uint64(0), 0
	for range count {
		id, ok := p.TryNextID()
		if !ok {
			break
		}
		next := uint64(id)
		switch end := len(stretches) - 1; {
		case length == 1 && next > last:
			stride, length = next-last, 2
			stretches[end][1], stretches[end][2] = float64(length), float64(stride)
		case length > 1 && next == last+stride:
			length++
			stretches[end][1] = float64(length)
		default:
			stride, length = 1, 1
			stretches = append(stretches, [3]any{strconv.FormatUint(next, 10), 1.0, 1.0})
		}
		last = next
	}
	return stretches
}

// play runs a step, and returns it with its result.
func (p *stockPlayer) play(step stockStep) stockStep {
	p.clock.now = time.UnixMilli(step.atMS)
	switch step.what {
	case "ask":
		p.noteAsked(step.atMS)
		step.keys.Count = p.policy.reserveCount()
	case "answer", "answer reserve":
		p.answerTo(step.keys)
	case "claim":
		step.keys.IDs = p.claim(step.keys.Count)
		step.keys.IsDue = p.isLow() || p.stock() == 0
	case "look":
		step.keys.PieceSize = p.policy.secondCount()
		p.outage.noteHandedOut(p.handed())
		step.keys.Count = p.outage.reserveCount(p.reserveState(p.outage.young), step.keys.PieceSize)
		if step.keys.Count > 0 {
			p.noteAsked(step.atMS)
		}
	case "expire":
		before := p.dropped
		for _, answer := range p.answers {
			if answer.asked.elapsed() >= p.maxAge {
				p.drop(answer)
			}
		}
		step.keys.Dropped, step.keys.Stock = p.dropped-before, p.stock()
	}
	return step
}

func TestTheStockDecidesAsInEveryLanguage(t *testing.T) {
	text, err := os.ReadFile("../../test/vectors/stock.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []stockHistory }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) == 0 {
		t.Fatal("there is no history")
	}
	for _, history := range file.Vectors {
		player := newStockPlayer(t, history)
		for index, step := range history.Steps {
			if played := player.play(step); !reflect.DeepEqual(played, step) {
				t.Fatalf("%s, step %d: got %+v, want %+v", history.Name, index, played, step)
			}
		}
	}
}
