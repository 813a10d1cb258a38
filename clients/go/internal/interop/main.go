// Command interop is what test/interop and the conformance program start: a command a line on standard input, a line of
// JSON for each on standard output. docs/internals/client-contract.md has the commands.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"snowlane.dev/go"
)

type arguments map[string]string

func (a arguments) number(name string, otherwise int) int {
	if a[name] == "" {
		return otherwise
	}
	value, err := strconv.Atoi(a[name])
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// token returns nil if there is none.
func (a arguments) token() func(context.Context) (string, error) {
	if a["token"] == "" {
		return nil
	}
	return snowlane.StaticToken(a["token"])
}

func hello(arguments) (any, error) {
	return map[string]any{"language": "go", "leavesOut": []string{}}, nil
}

func main() {
	log.SetFlags(0)
	commands := map[string]func(arguments) (any, error){
		"hello": hello, "open": open, "call": call, "take": take, "streams": streams, "stats": stats, "step": step, "close": closeClient, "fleet": fleet,
		"issue": issue, "parse": parse, "sequence": runSequence,
	}
	out := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		name, pairs, _ := strings.Cut(lines.Text(), " ")
		keys := arguments{}
		for _, pair := range strings.Fields(pairs) {
			key, value, _ := strings.Cut(pair, "=")
			keys[key] = value
		}
		command := commands[name]
		if command == nil {
			log.Fatalf("there is no command %s", name)
		}
		result, err := command(keys)
		if err != nil {
			found := shownError(err)
			if found == nil {
				log.Fatal(err)
			}
			result = map[string]any{"error": found}
		}
		if err := out.Encode(result); err != nil {
			log.Fatal(err)
		}
	}
}

// issuing is the state that the callers of one issue share.
type issuing struct {
	take func(ctx context.Context, count int) ([]snowlane.ID, error)
	// chunk is how many IDs a caller takes at once.
	chunk int
	left  atomic.Int64
	// succeededAt in Unix nanoseconds.
	succeededAt atomic.Int64

	mutex    sync.Mutex
	file     *bufio.Writer
	failures int
	reasons  map[snowlane.Reason]int
}

func issue(keys arguments) (any, error) {
	client, err := snowlane.NewClient(snowlane.Options{
		Endpoints: strings.Split(keys["endpoints"], ","),
		Timeout:   time.Duration(keys.number("timeout_ms", 5_000)) * time.Millisecond,
		Token:     keys.token(),
	})
	if err != nil {
		return nil, err
	}
	defer client.Close()
	file, err := os.Create(keys["out"])
	if err != nil {
		return nil, err
	}
	count := keys.number("count", 1)
	s := &issuing{file: bufio.NewWriterSize(file, 1<<20), reasons: map[snowlane.Reason]int{}, chunk: 1}
	s.left.Store(int64(count))
	s.succeededAt.Store(time.Now().UnixNano())
	if err := s.choose(client, keys); err != nil {
		return nil, err
	}
	results := make(chan error)
	callers := keys.number("callers", 1)
	for range callers {
		go func() { results <- s.call(context.Background()) }()
	}
	for range callers {
		err = errors.Join(err, <-results)
	}
	err = errors.Join(err, s.file.Flush(), file.Close())
	return map[string]any{"count": count, "failures": s.failures, "reasons": s.reasons}, err
}

// choose sets how IDs are taken.
func (s *issuing) choose(client *snowlane.Client, keys arguments) error {
	one := func(next func(context.Context) (snowlane.ID, error)) func(context.Context, int) ([]snowlane.ID, error) {
		return func(ctx context.Context, _ int) ([]snowlane.ID, error) {
			id, err := next(ctx)
			return []snowlane.ID{id}, err
		}
	}
	switch keys["mode"] {
	case "buffer":
		maxAge := time.Duration(keys.number("max_age_ms", 5_000)) * time.Millisecond
		buffer, err := client.Prefetch(snowlane.BufferOptions{MaxAge: maxAge})
		if err != nil {
			return err
		}
		s.take = one(buffer.NextID)
	case "batch":
		s.take, s.chunk = client.NextIDs, 10_000
	case "stream":
		s.chunk = 100_000
		s.take = func(ctx context.Context, count int) (all []snowlane.ID, err error) {
			for ids, err := range client.Stream(ctx, count, snowlane.StreamOptions{}) {
				if err != nil {
					return nil, err
				}
				all = append(all, ids...)
			}
			return all, nil
		}
	case "values":
		s.chunk = 1_000
		s.take = func(ctx context.Context, count int) (all []snowlane.ID, err error) {
			values, err := client.Sequence(keys["sequence"]).NextValues(ctx, count)
			for _, value := range values {
				all = append(all, snowlane.ID(value.Value))
			}
			return all, err
		}
	default:
		s.take = one(client.NextID)
	}
	return nil
}

// call is one caller: it takes IDs until all are taken, and writes each ID that it gets.
func (s *issuing) call(ctx context.Context) error {
	for {
		wanted := min(int64(s.chunk), s.left.Load())
		if wanted <= 0 {
			return nil
		}
		if s.left.Add(-wanted) < 0 {
			s.left.Add(wanted)
			continue
		}
		ids, err := s.take(ctx, int(wanted))
		if err != nil {
			s.left.Add(wanted)
			if err := s.note(err); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
			continue
		}
		s.succeededAt.Store(time.Now().UnixNano())
		if err := s.write(ids); err != nil {
			return err
		}
	}
}

func (s *issuing) note(err error) error {
	if time.Now().UnixNano()-s.succeededAt.Load() > int64(time.Minute) {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.failures++
	s.reasons[snowlane.ReasonOf(err)]++
	return nil
}

func (s *issuing) write(ids []snowlane.ID) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var word [8]byte
	for _, id := range ids {
		binary.BigEndian.PutUint64(word[:], uint64(id))
		if _, err := s.file.Write(word[:]); err != nil {
			return err
		}
	}
	return nil
}

func parse(keys arguments) (any, error) {
	twitter, err := snowlane.Preset("twitter")
	if err != nil {
		return nil, err
	}
	codec := snowlane.NewTextCodec(twitter, "default")
	data, err := os.ReadFile(keys["in"])
	if err != nil {
		return nil, err
	}
	var lines strings.Builder
	for at := 0; at < len(data); at += 8 {
		parsed, err := twitter.Parse(snowlane.ID(binary.BigEndian.Uint64(data[at:])))
		if err != nil {
			return nil, err
		}
		base62, err := codec.Write(parsed.ID, snowlane.TextFormat{Form: snowlane.Base62})
		if err != nil {
			return nil, err
		}
		uuid, err := codec.Write(parsed.ID, snowlane.TextFormat{Form: snowlane.UUID})
		if err != nil {
			return nil, err
		}
		typed, err := codec.Write(parsed.ID, snowlane.TextFormat{Form: snowlane.TypedID, TypePrefix: "order"})
		if err != nil {
			return nil, err
		}
		reading, err := codec.Read(typed, snowlane.TextReadOptions{TypePrefix: "order"})
		if err != nil || reading.ID != parsed.ID {
			return nil, fmt.Errorf("%s reads as %d: %w", typed, reading.ID, err)
		}
		parts := []any{parsed.Ticks, parsed.DatacenterID, parsed.WorkerID, parsed.Sequence, base62, uuid, typed}
		fmt.Fprintln(&lines, append([]any{parsed.ID}, parts...)...)
	}
	return map[string]any{"count": len(data) / 8}, os.WriteFile(keys["out"], []byte(lines.String()), 0o600)
}

// codeName turns the Go name of a code (`InvalidArgument`) into that of gRPC (`INVALID_ARGUMENT`).
func codeName(name string) string {
	var result strings.Builder
	for index, character := range name {
		if index > 0 && character >= 'A' && character <= 'Z' {
			result.WriteByte('_')
		}
		result.WriteRune(character)
	}
	return strings.Replace(strings.ToUpper(result.String()), "CANCELED", "CANCELLED", 1)
}
