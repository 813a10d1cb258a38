// Package bench measures what an ID costs a Go program: from the buffer, by local generators, and by one RPC each. It
// is a module of its own, so that nobody who uses the client depends on its peers.
package bench

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/bwmarrin/snowflake"
	"github.com/sony/sonyflake/v2"
	"snowlane.dev/go"
)

// memorySource answers as a server does whose ceiling nobody reaches, after about as long as a call within a machine
// takes.
type memorySource struct {
	mutex sync.Mutex
	next  snowlane.ID
}

func (s *memorySource) Reserve(ctx context.Context, count int) ([]snowlane.Run, error) {
	time.Sleep(time.Millisecond)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	run := snowlane.Run{First: s.next + 1, Count: count, Stride: 1}
	s.next += snowlane.ID(count)
	return []snowlane.Run{run}, nil
}

type source struct {
	name string
	// make gives what makes an ID; it is called once for a measurement.
	make func(b *testing.B) func() uint64
}

func fatal(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func newBuffer(b *testing.B) *snowlane.Buffer {
	buffer, err := snowlane.NewBuffer(&memorySource{next: 1 << 60}, snowlane.BufferOptions{CountMax: 1 << 20})
	fatal(b, err)
	b.Cleanup(func() { _ = buffer.Close() })
	return buffer
}

func newNode(stepBits uint8) func(b *testing.B) func() uint64 {
	return func(b *testing.B) func() uint64 {
		snowflake.NodeBits, snowflake.StepBits = 22-stepBits, stepBits
		node, err := snowflake.NewNode(1)
		fatal(b, err)
		return func() uint64 { return uint64(node.Generate()) }
	}
}

func newSonyflake(settings sonyflake.Settings) func(b *testing.B) func() uint64 {
	return func(b *testing.B) func() uint64 {
		settings.MachineID = func() (int, error) { return 1, nil }
		made, err := sonyflake.New(settings)
		fatal(b, err)
		return func() uint64 {
			id, _ := made.NextID()
			return uint64(id)
		}
	}
}

func nextOfBuffer(b *testing.B) func() uint64 {
	buffer, ctx := newBuffer(b), context.Background()
	// The rate is learnt before the clock runs.
	for range 5_000_000 {
		_, err := buffer.NextID(ctx)
		fatal(b, err)
	}
	return func() uint64 {
		id, _ := buffer.NextID(ctx)
		return uint64(id)
	}
}

var local = []source{
	{"buffer", nextOfBuffer},
	{"bwmarrin-lifted", newNode(21)},
	{"sonyflake-lifted", newSonyflake(sonyflake.Settings{BitsSequence: 22, BitsMachineID: 1, TimeUnit: time.Millisecond})},
	{"bwmarrin-shipped", newNode(12)},
	{"sonyflake-shipped", newSonyflake(sonyflake.Settings{})},
}

// ring is where IDs go: what nobody stores, a compiler may not make.
type ring [1024]uint64

func BenchmarkNextID(b *testing.B) {
	for _, source := range local {
		b.Run(source.name+"/threads=1", func(b *testing.B) {
			next := source.make(b)
			var ids ring
			b.ResetTimer()
			for i := range b.N {
				ids[i%len(ids)] = next()
			}
		})
		for _, each := range []struct {
			name        string
			parallelism int
		}{{"/threads=cores", 1}, {"/threads=64", 32}} {
			b.Run(source.name+each.name, func(b *testing.B) { inParallel(b, each.parallelism, source.make(b)) })
		}
	}
}

func inParallel(b *testing.B, parallelism int, next func() uint64) {
	b.SetParallelism(parallelism)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		var ids ring
		for i := 0; pb.Next(); i++ {
			ids[i%len(ids)] = next()
		}
	})
}

func newClient(b *testing.B) *snowlane.Client {
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: []string{os.Getenv("SNOWLANE_URL")}, Timeout: time.Minute})
	fatal(b, err)
	b.Cleanup(func() { _ = client.Close() })
	return client
}

func BenchmarkRPC(b *testing.B) {
	ctx := context.Background()
	client := newClient(b)
	next := func() uint64 {
		id, err := client.NextID(ctx)
		if err != nil {
			b.Error(err)
		}
		return uint64(id)
	}
	b.Run("rpc/threads=1", func(b *testing.B) {
		var ids ring
		for i := range b.N {
			ids[i%len(ids)] = next()
		}
	})
	b.Run("rpc/threads=64", func(b *testing.B) { inParallel(b, 32, next) })
}

// Each iteration is one call; ns/id is what an ID of it costs.
func BenchmarkMany(b *testing.B) {
	ctx := context.Background()
	perID := func(b *testing.B, count int) {
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/id")
	}
	b.Run("stock-array", func(b *testing.B) {
		buffer := newBuffer(b)
		for range b.N {
			_, err := buffer.NextIDs(ctx, 10_000)
			fatal(b, err)
		}
		perID(b, 10_000)
	})
	client := newClient(b)
	b.Run("server-array", func(b *testing.B) {
		for range b.N {
			_, err := client.NextIDs(ctx, 100_000)
			fatal(b, err)
		}
		perID(b, 100_000)
	})
	b.Run("server-stream", func(b *testing.B) {
		for range b.N {
			count := 0
			for ids, err := range client.Stream(ctx, 1_000_000, snowlane.StreamOptions{}) {
				fatal(b, err)
				count += len(ids)
			}
			if count != 1_000_000 {
				b.Fatal(count)
			}
		}
		perID(b, 1_000_000)
	})
}
