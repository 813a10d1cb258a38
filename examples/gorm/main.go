// A model of GORM whose ID comes from Snowlane. Saves one order, or COUNT, then prints the
// newest two with the time in their IDs.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"snowlane.dev/go"
)

var ids *snowlane.Buffer

// Model is embedded in each model, which gets its ID from the hook below before it is inserted.
type Model struct {
	ID int64 `gorm:"primaryKey;autoIncrement:false"`
}

// BeforeCreate is called by GORM. A model that has an ID keeps it.
func (model *Model) BeforeCreate(db *gorm.DB) error {
	if model.ID != 0 {
		return nil
	}
	id, err := ids.NextID(db.Statement.Context)
	model.ID = int64(id)
	return err
}

// Order is an order, whose time is in its ID.
type Order struct {
	Model
	Article string
}

// TableName keeps the examples apart.
func (Order) TableName() string { return "orders_gorm" }

func main() {
	endpoints := strings.Split(os.Getenv("SNOWLANE_URL"), ",")
	client, err := snowlane.NewClient(snowlane.Options{Endpoints: endpoints, Timeout: time.Minute})
	check(err)
	defer client.Close()
	ids, err = client.Prefetch(snowlane.BufferOptions{})
	check(err)
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{})
	check(err)
	check(db.AutoMigrate(&Order{}))

	count := 1
	if len(os.Args) > 1 {
		count, err = strconv.Atoi(os.Args[1])
		check(err)
	}
	for saved := 0; saved < count; saved += 1_000 {
		orders := make([]Order, min(1_000, count-saved))
		for i := range orders {
			orders[i].Article = "tea"
		}
		check(db.Create(&orders).Error)
	}

	var newest []Order
	check(db.Order("id DESC").Limit(2).Find(&newest).Error)
	slices.Reverse(newest)
	layout, err := client.Layout(context.Background())
	check(err)
	for _, order := range newest {
		parsed, err := layout.Parse(snowlane.ID(order.ID))
		check(err)
		fmt.Println(order.ID, parsed.CreateTime.Format("2006-01-02T15:04:05.000Z07:00"))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
