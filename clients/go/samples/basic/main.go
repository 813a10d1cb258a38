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
	id, err := client.NextID(ctx)
	if err != nil {
		log.Fatal(err)
	}
	layout, err := client.Layout(ctx)
	if err != nil {
		log.Fatal(err)
	}
	parsed, err := layout.Parse(id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("id", id)
	fmt.Println("created", parsed.CreateTime.Format("2006-01-02T15:04:05.000Z07:00"))
	fmt.Println("worker", parsed.WorkerID)
}
