package snowlane_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"snowlane.dev/go"
)

func TestATokenGoesOutWithEachCall(t *testing.T) {
	server := startServer(t)
	var seen []string
	server.setNextID(func(ctx context.Context) (uint64, error) {
		incoming, _ := metadata.FromIncomingContext(ctx)
		seen = append(seen, incoming.Get("authorization")...)
		return 1, nil
	})
	client := connect(t, snowlane.Options{Token: snowlane.StaticToken(" secret\n")}, server)
	if _, err := client.NextID(ctx); err != nil || !slices.Equal(seen, []string{"Bearer secret"}) {
		t.Errorf("%v %v", seen, err)
	}
}

func TestOptionsThatAreWrong(t *testing.T) {
	token := snowlane.StaticToken("t")
	for _, options := range []snowlane.Options{
		{Endpoints: []string{}},
		{Endpoints: []string{"ftp://a"}},
		{Endpoints: []string{"http://"}},
		{Endpoints: []string{"a:80"}},
		{Endpoints: []string{"http://u:p@a"}},
		{Endpoints: []string{"http://a/path"}},
		{Endpoints: []string{""}},
		{Endpoints: []string{"http://a:0"}},
		{Endpoints: []string{"http://a:65536"}},
		{Endpoints: []string{"http://a:80:80"}},
		{RetryMax: 4},
		{Timeout: -1},
		{Token: token, Endpoints: []string{"http://example.com"}},
	} {
		if client, err := snowlane.NewClient(options); err == nil {
			t.Errorf("%+v is accepted", options)
			client.Close()
		}
	}
	for _, options := range []snowlane.Options{
		{},
		{Token: token, Endpoints: []string{"http://example.com"}, InsecureToken: true},
		{Token: token, Endpoints: []string{"https://example.com", "http://[::1]:1", "http://localhost", "http://127.9.9.9"}},
	} {
		client, err := snowlane.NewClient(options)
		if err != nil {
			t.Error(err)
			continue
		}
		client.Close()
	}
}

func TestAnEndpointThatIsWrongShowsNoPassword(t *testing.T) {
	for _, endpoint := range []string{"http://user:secret@a b", "ftp://user:secret@a", "http://user:secret@a/path", "http://user:secret@a:0"} {
		_, err := snowlane.NewClient(snowlane.Options{Endpoints: []string{endpoint}})
		if err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
}

func TestAHostMayBeCalledAsASchemeOfGRPC(t *testing.T) {
	for _, host := range []string{"unix", "dns", "passthrough"} {
		if target := snowlane.TargetOf("http://" + host + ":80"); target != "dns:///"+host+":80" {
			t.Error(target)
		}
	}
}

func TestWhatIsNoTokenIsToldAtOnceAndSentToNobody(t *testing.T) {
	server := startServer(t)
	for _, token := range []string{"", " ", "two\nlines", "\u00fc", "\x00"} {
		client := connect(t, snowlane.Options{Token: snowlane.StaticToken(token)}, server)
		buffer, err := client.Prefetch(snowlane.BufferOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, ofCall := client.NextID(ctx)
		_, ofStream := collect(client, ctx, 1, snowlane.StreamOptions{})
		_, ofBuffer := buffer.NextID(ctx)
		for _, err := range []error{ofCall, ofStream, ofBuffer} {
			var failure *snowlane.Error
			if !errors.As(err, &failure) || failure.Reason != snowlane.RPCFailed || failure.Code != codes.Unauthenticated {
				t.Errorf("%q: %+v", token, err)
			}
		}
	}
	if calls := server.calls.Load(); calls != 0 {
		t.Errorf("%d calls", calls)
	}
}

func TestABufferWithoutASource(t *testing.T) {
	if _, err := snowlane.NewBuffer(nil, snowlane.BufferOptions{}); err == nil {
		t.Error("it is accepted")
	}
}
