package snowlane_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// startServers starts servers of some deployments, by the number of each; their IDs begin above each other's.
func startServers(t *testing.T, numbers ...uint32) []*scriptedServer {
	t.Helper()
	servers := make([]*scriptedServer, len(numbers))
	for index, number := range numbers {
		servers[index] = startServer(t)
		servers[index].deployment.Store(number)
		servers[index].next.Store(uint64(index) * 1_000)
	}
	return servers
}

// callsOf are the calls that give IDs.
func callsOf(t *testing.T, client *snowlane.Client) []func() error {
	t.Helper()
	buffer, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return []func() error{
		func() error { _, err := client.NextID(ctx); return err },
		func() error { _, err := client.NextIDs(ctx, 1); return err },
		func() error { _, err := collect(client, ctx, 1, snowlane.StreamOptions{}); return err },
		func() error { _, err := buffer.NextID(ctx); return err },
	}
}

func TestNoCallGivesAnIDWhereTheEndpointsAreOfTwoDeploymentsAndBothAreNamed(t *testing.T) {
	servers := startServers(t, 1, 2)
	for _, call := range callsOf(t, connect(t, snowlane.Options{}, servers...)) {
		err := call()
		expectReason(t, err, snowlane.DeploymentMismatch)
		var failure *snowlane.Error
		if errors.As(err, &failure) && failure.Code != codes.FailedPrecondition {
			t.Error(failure.Code)
		}
		for _, server := range servers {
			if err == nil || !strings.Contains(err.Error(), server.url()) {
				t.Errorf("%v does not name %s", err, server.url())
			}
		}
	}
}

func TestTheAnswersOfAServerThatBecameAnotherDeploymentsAreRefused(t *testing.T) {
	server := startServers(t, 1)[0]
	client := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries}, server)
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	server.deployment.Store(2)
	want := map[string]string{"deployment": "00000002", "expected_deployment": "00000001", "endpoint_first": server.url()}
	for _, call := range callsOf(t, client) {
		err := call()
		expectReason(t, err, snowlane.DeploymentMismatch)
		var failure *snowlane.Error
		if errors.As(err, &failure) && !maps.Equal(failure.Metadata, want) {
			t.Error(failure.Metadata)
		}
	}
}

func TestAClientGoesOnWithTheFirstDeploymentWhenAnotherJoinsLater(t *testing.T) {
	servers := startServers(t, 1, 1)
	client := connect(t, snowlane.Options{}, servers...)
	id, err := client.NextID(ctx)
	if err != nil {
		t.Fatal(err)
	}
	isFirst := id <= 1_000
	if isFirst {
		servers[0].deployment.Store(2)
	} else {
		servers[1].deployment.Store(2)
	}
	for range 5 {
		if id, err := client.NextID(ctx); err != nil || (id <= 1_000) == isFirst {
			t.Fatalf("%d %v", id, err)
		}
	}
}

func TestOnlyTheDeploymentsOfTheOptionAreUsed(t *testing.T) {
	servers := startServers(t, 1, 2)
	both := snowlane.Options{Deployments: []string{fingerprint(1), fingerprint(2)}}
	if _, err := connect(t, both, servers...).NextID(ctx); err != nil {
		t.Error(err)
	}
	one := snowlane.Options{Deployments: []string{fingerprint(1)}, RetryMax: snowlane.NoRetries}
	_, err := connect(t, one, servers[1]).NextID(ctx)
	expectReason(t, err, snowlane.DeploymentMismatch)
	for _, wrong := range []string{"", "xyz", "1234567", strings.Repeat("0", 33)} {
		if _, err := snowlane.NewClient(snowlane.Options{Deployments: []string{wrong}}); err == nil {
			t.Errorf("%q was taken", wrong)
		}
	}
}

func TestTheFirstIDComesAlthoughAServerDoesNotTellItsDeployment(t *testing.T) {
	servers := startServers(t, 1, 0)
	if _, err := connect(t, snowlane.Options{}, servers...).NextID(ctx); err != nil {
		t.Error(err)
	}
	servers[1].kill()
	if _, err := connect(t, snowlane.Options{}, servers...).NextID(ctx); err != nil {
		t.Error(err)
	}
}

func TestTheLayoutIsAskedForAgainWhenAnotherDeploymentAnswers(t *testing.T) {
	server := startServers(t, 1)[0]
	server.info = &snowlanev1.GetInfoResponse{Layout: &snowlanev1.Layout{
		Name: "custom", EpochTime: timestamppb.New(time.Unix(0, 0)), Tick: durationpb.New(time.Millisecond),
		Fields: []*snowlanev1.LayoutField{{Kind: snowlanev1.LayoutFieldKind_LAYOUT_FIELD_KIND_TIMESTAMP, Bits: 41}},
	}}
	client := connect(t, snowlane.Options{Deployments: []string{fingerprint(1), fingerprint(2)}}, server)
	for round, want := range []int64{1, 1, 2} {
		if round == 2 {
			server.deployment.Store(2)
		}
		if _, err := client.NextID(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Layout(ctx); err != nil {
			t.Fatal(err)
		}
		if asked := server.infoCalls.Load(); asked != want {
			t.Errorf("asked %d times, want %d", asked, want)
		}
	}
}

func TestValuesOfAnotherDatabaseOfSequencesAreRefused(t *testing.T) {
	server := startServer(t)
	var database atomic.Uint32
	server.sequences.next = func(context.Context, *snowlanev1.NextValueRequest) (*snowlanev1.NextValueResponse, error) {
		return &snowlanev1.NextValueResponse{Value: 7, Database: database.Load()}, nil
	}
	server.sequences.reserve = func(*snowlanev1.ReserveValuesRequest) (*snowlanev1.ReserveValuesResponse, error) {
		run := &snowlanev1.ValueRun{FirstValue: 1, Count: 1, Increment: 1}
		return &snowlanev1.ReserveValuesResponse{Runs: []*snowlanev1.ValueRun{run}, Database: database.Load()}, nil
	}
	server.sequences.batch = func(_ *snowlanev1.BatchNextValuesRequest, stream valueStream) error {
		return stream.Send(&snowlanev1.BatchNextValuesResponse{Values: []int64{7}, Database: database.Load()})
	}
	orders := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries}, server).Sequence("orders")
	calls := []func() error{
		func() error { _, err := orders.NextValue(ctx); return err },
		func() error { _, err := orders.Reserve(ctx, 1); return err },
		func() error { _, err := orders.NextValues(ctx, 1); return err },
	}
	want := map[string]string{"database": "000000cd", "expected_database": "000000ab", "endpoint_first": server.url()}
	// An older server reports no number.
	for _, number := range []uint32{0xab, 0xcd, 0, 0xab} {
		database.Store(number)
		for _, call := range calls {
			err := call()
			var failure *snowlane.Error
			if number != 0xcd && err != nil {
				t.Error(number, err)
			} else if number == 0xcd && (!errors.As(err, &failure) || !maps.Equal(failure.Metadata, want)) {
				t.Error(err)
			}
		}
	}
}
