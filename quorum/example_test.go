package quorum_test

import (
	"fmt"
	"time"

	"github.com/holdfast-go/holdfast/driver"
	"github.com/holdfast-go/holdfast/memlock"
	"github.com/holdfast-go/holdfast/quorum"
)

// Any drivers that vote make a quorum.
func ExampleNew() {
	nodes := []driver.Driver{memlock.New(), memlock.New(), memlock.New()}
	d, err := quorum.New(nodes, &quorum.Options{MaxTTL: 30 * time.Second})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println("the longest TTL is", d.Traits().MaxTTL)
	// Output: the longest TTL is 30s
}
