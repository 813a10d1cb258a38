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
	orders := client.Sequence("orders")
	value, err := orders.NextValue(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("value", value.Value)

	values, err := orders.NextValues(ctx, 1_000)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("values", len(values), values[0].Value, values[len(values)-1].Value)
	text, err := client.Sequence("invoices").NextText(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("text", text)
}
