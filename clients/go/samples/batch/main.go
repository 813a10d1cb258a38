package main

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"os"

	"snowlane.dev/go"
)

func main() {
	ctx := context.Background()
	url := cmp.Or(os.Getenv("SNOWLANE_URL"), "http://127.0.0.1:7609")
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: []string{url}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	batch, err := client.NextIDs(ctx, 10_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("batch", len(batch), batch[0], batch[len(batch)-1])

	var streamed []snowlane.ID
	for ids, err := range client.Stream(ctx, 100_000, snowlane.StreamOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		streamed = append(streamed, ids...)
	}
	fmt.Println("stream", len(streamed), streamed[0], streamed[len(streamed)-1])
}
