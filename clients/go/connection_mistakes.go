package snowlane

import "regexp"

// Kinds of mistakes that show when a connection is made, in an error's metadata as `connection`.
const (
	connectionRefused   = "refused"
	connectionNoAddress = "no_address"
	connectionClosed    = "closed"
)

// connectionMistake is one kind of mistake.
type connectionMistake struct {
	kind, text string
	// isIn finds it in the message of gRPC, which reports it in no other way.
	isIn *regexp.Regexp
}

// connectionMistakes are searched in order. docs/internals/client-contract.md has the table of all clients.
var connectionMistakes = []connectionMistake{
	{connectionRefused, "the connection was refused: no server listens there",
		regexp.MustCompile(`connection refused|actively refused`)},
	{connectionRefused, "there is no such socket: no server listens there",
		regexp.MustCompile(`connect: no such file or directory`)},
	{connectionNoAddress, "the host name has no address",
		regexp.MustCompile(`name resolver error|no such host|record lookup error`)},
	{"not_tls", "the server does not speak TLS: begin the endpoint with http://",
		regexp.MustCompile(`first record does not look like a TLS handshake`)},
	{"not_grpc", "something other than a gRPC server answers there",
		regexp.MustCompile(`looked like an HTTP/1\.1 header|missing selected ALPN property|no application protocol`)},
	{"wrong_host", "the certificate of the server is for another host: correct the endpoint, or the option TLS",
		regexp.MustCompile(`x509: (certificate is (not )?valid for|cannot validate certificate for|certificate relies on)`)},
	{"expired", "the certificate of the server has expired, or is not valid yet",
		regexp.MustCompile(`x509: certificate has expired or is not yet valid`)},
	{"untrusted", "the certificate of the server is not trusted: give the option TLS the authority that signed it",
		regexp.MustCompile(`x509: `)},
	{"needs_certificate", "the server requires a client certificate that it trusts: give the option TLS one with its key",
		regexp.MustCompile(`remote error: tls: (certificate required|bad certificate|unknown certificate|expired certificate)`)},
	{connectionClosed, "the connection was closed before any answer: if the server speaks TLS, begin the endpoint with https://",
		regexp.MustCompile(`error reading server preface: (EOF|unexpected EOF)|closed before server preface received`)},
}

// mistakeOf finds the mistake in a text of gRPC; nil if there is none.
func mistakeOf(text string) *connectionMistake {
	for index := range connectionMistakes {
		if connectionMistakes[index].isIn.MatchString(text) {
			return &connectionMistakes[index]
		}
	}
	return nil
}

// ofTransport matches the texts that gRPC writes itself, without an answer from a server.
var ofTransport = regexp.MustCompile(`^(connection error|connections? |error reading from server|last (connection|resolver) error|` +
	`transport|the connection|the stream|stream terminated|closing|unexpected HTTP|keepalive|no children|no SubConn|write |read )`)
