package main

import (
	"fmt"
	"log"
	"time"

	"snowlane.dev/go"
)

func main() {
	layout, err := snowlane.Preset("twitter")
	if err != nil {
		log.Fatal(err)
	}
	parsed, err := layout.Parse(1541815603606036480)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("ticks", parsed.Ticks)
	fmt.Println("created", parsed.CreateTime.Format("2006-01-02T15:04:05.000Z07:00"))
	fmt.Println("datacenter", parsed.DatacenterID)
	fmt.Println("worker", parsed.WorkerID)
	fmt.Println("sequence", parsed.Sequence)

	codec := snowlane.NewTextCodec(layout, "default")
	for _, form := range snowlane.TextForms() {
		format := snowlane.TextFormat{Form: form}
		if form == snowlane.TypedID {
			format.TypePrefix = "order"
		}
		text, err := codec.Write(parsed.ID, format)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(form, text)
	}

	second := time.Date(2022, 6, 28, 16, 7, 40, 0, time.UTC)
	first, last, err := layout.IDRange(second, second.Add(time.Second))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("range", first, last)
}
