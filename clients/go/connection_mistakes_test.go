package snowlane_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	bignum "math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"snowlane.dev/go"
	snowlanev1 "snowlane.dev/go/gen/snowlane/v1"
)

// certificateFor makes one that signs itself.
func certificateFor(t *testing.T, host string, notAfter time.Time) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: bignum.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: host}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: notAfter, IsCA: true, BasicConstraintsValid: true,
	}
	bytes, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(bytes)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{bytes}, PrivateKey: key, Leaf: parsed}, pool
}

// serveTLS starts a server, and returns its port.
func serveTLS(t *testing.T, config *tls.Config) (server *scriptedServer, port string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = &scriptedServer{server: grpc.NewServer(grpc.Creds(credentials.NewTLS(config)))}
	snowlanev1.RegisterIdServiceServer(server.server, server)
	go func() { _ = server.server.Serve(listener) }()
	t.Cleanup(server.kill)
	_, port, _ = net.SplitHostPort(listener.Addr().String())
	return server, port
}

func TestAMistakeOfTheConnectionFailsAtOnceAndSaysWhatToCorrect(t *testing.T) {
	later := time.Now().Add(time.Hour)
	right, roots := certificateFor(t, "localhost", later)
	other, otherRoots := certificateFor(t, "ids.example.com", later)
	past, pastRoots := certificateFor(t, "localhost", time.Now().Add(-time.Hour))
	_, rightPort := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{right}})
	_, otherPort := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{other}})
	_, pastPort := serveTLS(t, &tls.Config{Certificates: []tls.Certificate{past}})
	_, mutualPort := serveTLS(t, &tls.Config{
		Certificates: []tls.Certificate{right}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: roots,
	})
	plain := startServer(t)
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	plainPort := plain.url()[strings.LastIndex(plain.url(), ":")+1:]
	for _, each := range []struct {
		kind, endpoint string
		tls            *tls.Config
		text           string
	}{
		{"not_tls", "https://localhost:" + plainPort, &tls.Config{RootCAs: roots}, "begin the endpoint with http://"},
		{"not_grpc", web.URL, nil, "something other than a gRPC server"},
		{"untrusted", "https://localhost:" + rightPort, nil, "is not trusted"},
		{"wrong_host", "https://localhost:" + otherPort, &tls.Config{RootCAs: otherRoots}, "for another host"},
		{"expired", "https://localhost:" + pastPort, &tls.Config{RootCAs: pastRoots}, "has expired"},
		{"needs_certificate", "https://localhost:" + mutualPort, &tls.Config{RootCAs: roots}, "requires a client certificate"},
	} {
		client := connect(t, snowlane.Options{Endpoints: []string{each.endpoint}, TLS: each.tls})
		buffer, err := client.Prefetch(snowlane.BufferOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, ofCall := client.NextID(ctx)
		_, ofBuffer := buffer.NextID(ctx)
		for _, err := range []error{ofCall, ofBuffer} {
			var failure *snowlane.Error
			if !errors.As(err, &failure) || failure.Reason != snowlane.Unreachable || failure.Metadata["connection"] != each.kind ||
				failure.Metadata["answered"] != "never" || !strings.Contains(failure.Message, each.text) ||
				strings.Contains(failure.Message, "snowlane serve") || failure.Passes() {
				t.Errorf("%s: %v", each.kind, err)
			}
		}
	}
	client := connect(t, snowlane.Options{Endpoints: []string{"http://localhost:" + rightPort}})
	_, err := client.NextID(ctx)
	var failure *snowlane.Error
	if !errors.As(err, &failure) || failure.Metadata["connection"] != "closed" || failure.Metadata["answered"] != "" ||
		!strings.Contains(failure.Message, "begin the endpoint with https://") {
		t.Errorf("closed: %v", err)
	}
}

func TestAServerThatAnsweredIsToldFromOneThatDidNot(t *testing.T) {
	server := startServer(t)
	server.setNextID(func(context.Context) (uint64, error) { return 0, faultOf(codes.Unavailable, "", 0, nil) })
	client := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries}, server)
	_, err := client.NextID(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), "UNREACHABLE: the server cannot answer now: scripted") {
		t.Errorf("%v", err)
	}
	server.kill()
	short := connect(t, snowlane.Options{RetryMax: snowlane.NoRetries}, server)
	if _, err := short.NextID(ctx); err == nil || !strings.HasPrefix(err.Error(), "UNREACHABLE: the connection was refused") {
		t.Errorf("%v", err)
	}
}

func TestCertificatesMayChangeWhileAClientRuns(t *testing.T) {
	later := time.Now().Add(time.Hour)
	right, roots := certificateFor(t, "localhost", later)
	first, _ := certificateFor(t, "first", later)
	second, _ := certificateFor(t, "second", later)
	var shown []string
	config := &tls.Config{Certificates: []tls.Certificate{right}, ClientAuth: tls.RequireAnyClientCert}
	config.VerifyConnection = func(state tls.ConnectionState) error {
		shown = append(shown, state.PeerCertificates[0].Subject.CommonName)
		return nil
	}
	server, port := serveTLS(t, config)
	current := &first
	client := connect(t, snowlane.Options{
		Endpoints: []string{"https://localhost:" + port},
		TLS: &tls.Config{
			RootCAs:              roots,
			GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return current, nil },
		},
	})
	if _, err := client.NextID(ctx); err != nil {
		t.Fatal(err)
	}
	current = &second
	// A stream has a connection of its own.
	if _, err := collect(client, ctx, 1, snowlane.StreamOptions{}); err != nil {
		t.Fatal(err)
	}
	if strings.Join(shown, " ") != "first second" || server.calls.Load() != 2 {
		t.Errorf("%q, %d calls", shown, server.calls.Load())
	}
}
