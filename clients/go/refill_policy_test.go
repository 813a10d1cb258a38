package snowlane_test

import (
	"slices"
	"testing"
	"time"

	"snowlane.dev/go"
)

func atTwoThousandASecond() *snowlane.RefillPolicy {
	policy := snowlane.NewRefillPolicy(32, 65_536)
	policy.NoteHandedOut(0, 0)
	policy.NoteHandedOut(time.Second, 2_000)
	return policy
}

func TestAtTwoThousandIDsASecondAReservationAsksForTwoThousandWithTheMarksOfTheExample(t *testing.T) {
	fresh := snowlane.NewRefillPolicy(32, 65_536)
	fresh.NoteHandedOut(0, 0)
	policy := atTwoThousandASecond()
	if first, next := fresh.ReserveCount(), policy.ReserveCount(); first != 32 || next != 2_000 {
		t.Errorf("%d at first, then %d", first, next)
	}
	var marks []uint64
	for _, trip := range []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
		measured := atTwoThousandASecond()
		measured.NoteRoundTrip(trip)
		marks = append(marks, measured.LowWater(2_000))
	}
	if !slices.Equal(marks, []uint64{500, 800, 1_600}) {
		t.Errorf("marks %d", marks)
	}
	var rates []float64
	for second := range 6 {
		policy.NoteHandedOut(time.Duration(2+second)*time.Second, 2_000)
		rates = append(rates, policy.Rate())
	}
	if !slices.Equal(rates, []float64{1_000, 500, 250, 125, 62.5, 31.25}) || policy.ReserveCount() != 32 {
		t.Errorf("rates %v, then %d", rates, policy.ReserveCount())
	}
}

func TestAMarkThatIsMetWithin250MsDoublesTheNextReservation(t *testing.T) {
	policy := snowlane.NewRefillPolicy(32, 65_536)
	policy.NoteMark(32, 250*time.Millisecond)
	quick := policy.ReserveCount()
	policy.NoteMark(32, 251*time.Millisecond)
	if slow := policy.ReserveCount(); quick != 64 || slow != 32 {
		t.Errorf("%d and %d", quick, slow)
	}
}
