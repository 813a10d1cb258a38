// Uses the program that Learn shows: drive.mjs has the commands.
package main

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The clock that the program reads here; 0: that of the machine.
var nowMs int64
var looks int

func clock() int64 {
	if nowMs == 0 {
		return time.Now().UnixMilli()
	}
	if looks > 0 {
		nowMs++
	}
	looks++
	return nowMs
}

func generator() *Generator {
	ids, err := NewGenerator(0, 1)
	if err != nil {
		log.Fatal(err)
	}
	return ids
}

func next(ids *Generator) int64 {
	id, err := ids.Next()
	if err != nil {
		log.Fatal(err)
	}
	return id
}

func printLives(count, each int64) {
	for life := int64(0); life < count; life++ {
		ids := generator()
		first := next(ids)
		last := first
		for made := int64(1); made < each; made++ {
			id := next(ids)
			if id <= last {
				log.Fatalf("%d came after %d", id, last)
			}
			last = id
		}
		fmt.Println(first, last)
	}
}

func outcomeOf(history string) string {
	nowMs, looks = 1_700_000_000_000, 0
	ids := generator()
	outcomes := []string{}
	for _, step := range history {
		looks = 0
		outcome := "-"
		switch step {
		case 't':
			nowMs++
		case 'b':
			nowMs -= 2
		case 'r':
			ids = generator()
		default:
			id, err := ids.Next()
			outcome = strconv.FormatInt(id, 10)
			if err != nil {
				outcome = "behind"
			}
		}
		outcomes = append(outcomes, outcome)
	}
	return strings.Join(outcomes, " ")
}

func printThreads(count, each int64) {
	ids := generator()
	lines := make([][]int64, count)
	var all sync.WaitGroup
	for place := range lines {
		all.Add(1)
		go func(place int) {
			defer all.Done()
			for made := int64(0); made < each; made++ {
				lines[place] = append(lines[place], next(ids))
			}
		}(place)
	}
	all.Wait()
	for _, line := range lines {
		fmt.Println(strings.Trim(fmt.Sprint(line), "[]"))
	}
}

func main() {
	if len(os.Args) < 2 {
		return
	}
	values := []int64{}
	for _, text := range os.Args[2:] {
		value, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			log.Fatal(err)
		}
		values = append(values, value)
	}
	switch os.Args[1] {
	case "make":
		id, err := Make(values[0], values[1], values[2], values[3])
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id)
	case "decode":
		for _, id := range values {
			parts, err := Decode(id)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(parts.UnixMs, parts.Datacenter, parts.Worker, parts.Sequence)
		}
	case "lives":
		printLives(values[0], values[1])
	case "threads":
		printThreads(values[0], values[1])
	case "histories":
		input := bufio.NewScanner(os.Stdin)
		for input.Scan() {
			fmt.Println(outcomeOf(input.Text()))
		}
	}
}
