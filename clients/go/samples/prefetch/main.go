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
	buffer, err := client.Prefetch(snowlane.BufferOptions{})
	if err != nil {
		log.Fatal(err)
	}
	ids := make([]snowlane.ID, 100_000)
	for index := range ids {
		if ids[index], err = buffer.NextID(ctx); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("prefetch", len(ids), ids[0], ids[len(ids)-1])
	fmt.Println("handed out", buffer.Stats().HandedOut)
}
