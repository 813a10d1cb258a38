package snowlane_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"snowlane.dev/go"
)

var firstMistake = regexp.MustCompile(`^UNREACHABLE: the .*snowlane serve.* \(http:.*\)$`)

func TestWhereNoServerEverAnsweredCallsFailBeforeTheirDeadlineAndSayWhatToStart(t *testing.T) {
	for _, endpoints := range [][]string{
		{"http://127.0.0.1:1"}, {"http://nosuch.invalid:7609"}, {"http://127.0.0.1:1", "http://localhost:2"},
	} {
		client, err := snowlane.NewClient(snowlane.Options{Endpoints: endpoints, Timeout: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		buffer, err := client.Prefetch(snowlane.BufferOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			for _, next := range []func() error{
				func() error { _, err := client.NextID(ctx); return err },
				func() error { _, err := buffer.NextID(ctx); return err },
			} {
				err := next()
				if !firstMistake.MatchString(err.Error()) {
					t.Errorf("%v", err)
				}
			}
		}
		client.Close()
	}
}

func TestAfterTheFirstAnswerACallWaitsForTheServerAsEver(t *testing.T) {
	server := startServer(t)
	client := connect(t, snowlane.Options{}, server)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	server.kill()
	_, err := client.NextID(ctx)
	var failure *snowlane.Error
	if !errors.As(err, &failure) || failure.Metadata["answered"] != "" {
		t.Errorf("%v", err)
	}
}

func TestACountThatIsTooLargeNamesStream(t *testing.T) {
	buffer, _, _ := newFake(t, snowlane.BufferOptions{})
	_, err := buffer.NextIDs(ctx, 1_048_577)
	expectReason(t, err, snowlane.CountOutOfRange)
	if !strings.Contains(err.Error(), "Stream") {
		t.Errorf("%v", err)
	}
}
