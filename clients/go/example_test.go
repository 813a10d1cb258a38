package snowlane_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"google.golang.org/grpc/codes"
	"snowlane.dev/go"
	"snowlane.dev/go/snowlanetest"
)

func ExampleClient_NextID() {
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: []string{"http://127.0.0.1:7609"}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	id, err := client.NextID(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(id)
}

func ExampleClient_Prefetch() {
	client, err := snowlane.NewClient(snowlane.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	ids, err := client.Prefetch(snowlane.BufferOptions{Outage: 10 * time.Minute})
	if err != nil {
		log.Fatal(err)
	}
	if err := ids.Ready(context.Background()); err != nil {
		log.Fatal(err)
	}
	id, err := ids.NextID(context.Background())
	fmt.Println(id, err)
}

func ExampleClient_Stream() {
	client, err := snowlane.NewClient(snowlane.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	for ids, err := range client.Stream(context.Background(), 100_000, snowlane.StreamOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(ids))
	}
}

func ExampleClient_Sequence() {
	client, err := snowlane.NewClient(snowlane.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	value, err := client.Sequence("orders").NextValue(context.Background())
	fmt.Println(value.Value, err)
}

// A test of code that takes IDs needs no server.
func ExampleBuffer() {
	ids := snowlanetest.NewClient(snowlanetest.Run(100, 8, 1))
	buffer, err := ids.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer buffer.Close()
	for range 3 {
		id, err := buffer.NextID(context.Background())
		fmt.Println(id, err)
	}
	// Output:
	// 100 <nil>
	// 101 <nil>
	// 102 <nil>
}

func ExampleError() {
	ids := snowlanetest.NewClient(snowlanetest.Fail(snowlane.QuotaExceeded, codes.ResourceExhausted, time.Second))
	_, err := ids.NextID(context.Background())
	var failure *snowlane.Error
	if errors.As(err, &failure) && failure.Reason == snowlane.QuotaExceeded {
		fmt.Println("again after", failure.RetryAfter, failure.Passes())
	}
	// Output: again after 1s true
}

func ExampleLayout_Parse() {
	layout, err := snowlane.Preset("twitter")
	if err != nil {
		log.Fatal(err)
	}
	parsed, err := layout.Parse(1541815603606036480)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(parsed.CreateTime.Format(time.RFC3339), parsed.WorkerID, parsed.Sequence)
	// Output: 2022-06-28T16:07:40Z 26 0
}

func ExampleLayout_IDRange() {
	layout, err := snowlane.Preset("twitter")
	if err != nil {
		log.Fatal(err)
	}
	second := time.Date(2022, 6, 28, 16, 7, 40, 0, time.UTC)
	first, last, err := layout.IDRange(second, second.Add(time.Second))
	fmt.Println(first, last, err)
}

func ExampleTextCodec() {
	layout, err := snowlane.Preset("twitter")
	if err != nil {
		log.Fatal(err)
	}
	codec := snowlane.NewTextCodec(layout, "default")
	text, err := codec.Write(1541815603606036480, snowlane.TextFormat{Form: snowlane.TypedID, TypePrefix: "order"})
	fmt.Println(text, err)
}
