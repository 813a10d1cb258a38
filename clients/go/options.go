package snowlane

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
)

// Options says how a client works. The zero value means the defaults.
type Options struct {
	// Endpoints are `http://HOST:PORT` (plaintext), `https://HOST:PORT` (TLS) or `unix:/PATH` (a socket of this
	// machine); they must serve one deployment.
	// Default: `http://127.0.0.1:7609`.
	Endpoints []string
	// TLS has the roots to trust and this client's certificate. Default: the roots of the system.
	TLS *tls.Config
	// Token returns the bearer token for each attempt. White space around it is dropped, because a file often ends in a
	// line break. It is refused over plaintext to a host that is not loopback, unless InsecureToken is set.
	Token         func(ctx context.Context) (string, error)
	InsecureToken bool
	// Timeout is the deadline of a call whose context has none; it covers all attempts and waits. Default: 5 s.
	Timeout time.Duration
	// AttemptTimeout is the longest that one attempt may take. Default: 2 s.
	AttemptTimeout time.Duration
	// RetryMax is the most attempts after the first: 1 to 3; 0 means 3, and NoRetries means none.
	RetryMax int
	Observer *ClientObserver
	// Logger gets a line when refills begin to fail and when they work again, when the client moves to another endpoint
	// or replaces a connection, and when a server belongs to another deployment; at most one line of each kind a
	// minute. Default: slog.Default().
	Logger *slog.Logger
	// DialOptions apply to each connection, for interceptors, stats handlers and dialers. Where one of them conflicts
	// with the client, the client wins.
	DialOptions []grpc.DialOption
	// Deployments lists the deployments whose IDs may be used, by their fingerprints as `snowlane doctor` shows them.
	// List several only if the operator makes sure that their IDs differ, as for namespaces or a move. Default: the
	// first that answers.
	Deployments []string
	// Layout is that of the deployment, for offline work. Default: a server is asked for it once.
	Layout *Layout
	// Namespace marks the UUIDs of the deployment. Default: `default`.
	Namespace string
	Clock     Clock
	// Random returns numbers from 0 to below 1, and may be called from any goroutine.
	Random func() float64
}

// NoRetries, as [Options].RetryMax, means that each call is tried once.
const NoRetries = -1

// StaticToken is a token that never changes, for [Options].Token.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// bearer returns the header value for the token.
func (o *Options) bearer(ctx context.Context) (string, error) {
	token, err := o.Token(ctx)
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsFunc(token, func(char rune) bool { return char < ' ' || char > '~' }) {
		const message = "the token is not one line of printable ASCII characters"
		return "", &Error{Reason: RPCFailed, Code: codes.Unauthenticated, Message: message}
	}
	return "Bearer " + token, nil
}

// endpointAddress is one entry of [Options].Endpoints, read.
type endpointAddress struct {
	url      string
	hostPort string
	// socketPath is the path of a Unix socket; empty where the endpoint is called over TCP.
	socketPath string
	isTLS      bool
	// ip is the address of the name in hostPort that is called; invalid where gRPC looks the name up.
	ip netip.Addr
}

// at is one address of a name: an endpoint of its own, which is still called by the name.
func (a endpointAddress) at(ip netip.Addr) endpointAddress {
	a.ip = ip
	a.url = fmt.Sprintf("%s [%s]", a.url, ip)
	return a
}

// target is the address in the form that gRPC takes. It includes the scheme, because a host may have the name of one of
// gRPC's own schemes.
func (a endpointAddress) target() string {
	if a.socketPath != "" {
		return "unix://" + (&url.URL{Path: a.socketPath}).EscapedPath()
	}
	if a.ip.IsValid() {
		_, port, _ := net.SplitHostPort(a.hostPort)
		return "passthrough:///" + net.JoinHostPort(a.ip.String(), port)
	}
	return "dns:///" + url.PathEscape(a.hostPort)
}

// socketPathMax is the room for a path in Linux' sockaddr_un, without its last byte.
const socketPathMax = 107

var isFingerprint = regexp.MustCompile("^[0-9a-fA-F]{8,32}$")

// settle fills in the defaults, and checks all other options.
func (o *Options) settle() ([]endpointAddress, error) {
	if o.Endpoints == nil {
		o.Endpoints = []string{"http://127.0.0.1:7609"}
	}
	setDefault(&o.Timeout, 5*time.Second)
	setDefault(&o.AttemptTimeout, 2*time.Second)
	setDefault(&o.RetryMax, 3)
	setDefault(&o.Namespace, "default")
	setDefault(&o.Observer, &ClientObserver{})
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	var faults []error
	if len(o.Endpoints) == 0 {
		faults = append(faults, errors.New("snowlane: Endpoints is empty: give at least one"))
	}
	if o.Timeout < 0 || o.AttemptTimeout < 0 {
		faults = append(faults, errors.New("snowlane: Timeout and AttemptTimeout must be above 0"))
	}
	if o.RetryMax < NoRetries || o.RetryMax > 3 {
		faults = append(faults, fmt.Errorf("snowlane: RetryMax is %d: it must be 1 to 3, or NoRetries", o.RetryMax))
	}
	for _, fingerprint := range o.Deployments {
		if !isFingerprint.MatchString(fingerprint) {
			faults = append(faults, fmt.Errorf("snowlane: Deployments has %q: it must be 8 to 32 hexadecimal digits", fingerprint))
		}
	}
	addresses := make([]endpointAddress, len(o.Endpoints))
	for index, endpoint := range o.Endpoints {
		address, err := o.readEndpoint(endpoint)
		faults = append(faults, err)
		addresses[index] = address
	}
	return addresses, errors.Join(faults...)
}

func (o *Options) readEndpoint(endpoint string) (endpointAddress, error) {
	if path, isSocket := strings.CutPrefix(endpoint, "unix:"); isSocket && strings.HasPrefix(path, "/") && len(path) <= socketPathMax {
		return endpointAddress{url: endpoint, socketPath: path}, nil
	}
	parsed, err := url.Parse(endpoint)
	if err != nil {
		// The cause is left out: the part before an @ may be a password.
		shown := endpoint[strings.LastIndex(endpoint, "@")+1:]
		return endpointAddress{}, fmt.Errorf("snowlane: the endpoint %q is not http://HOST:PORT, https://HOST:PORT or unix:/PATH", shown)
	}
	port := map[string]string{"http": "80", "https": "443"}[parsed.Scheme]
	isBracketed := strings.HasPrefix(parsed.Host, "[")
	if port == "" || parsed.Hostname() == "" || strings.Contains(parsed.Hostname(), ":") != isBracketed {
		return endpointAddress{}, fmt.Errorf("snowlane: the endpoint %q is not http://HOST:PORT, https://HOST:PORT or unix:/PATH", parsed.Redacted())
	}
	if parsed.User != nil || (parsed.Path != "" && parsed.Path != "/") || parsed.RawQuery != "" || parsed.Fragment != "" {
		return endpointAddress{}, fmt.Errorf("snowlane: the endpoint %q has more than scheme, host and port", parsed.Redacted())
	}
	if parsed.Port() != "" {
		port = parsed.Port()
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return endpointAddress{}, fmt.Errorf("snowlane: the endpoint %q has a port that is not from 1 to 65535", endpoint)
	}
	isTLS := parsed.Scheme == "https"
	if o.Token != nil && !isTLS && !o.InsecureToken && !isLoopback(parsed.Hostname()) {
		return endpointAddress{}, fmt.Errorf("snowlane: a token would go to %s in plaintext: use https, or set InsecureToken", endpoint)
	}
	return endpointAddress{url: endpoint, hostPort: net.JoinHostPort(parsed.Hostname(), port), isTLS: isTLS}, nil
}

func isLoopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || (address != nil && address.IsLoopback())
}
