package flashsale

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast/lab/subprocess"
)

var buyers = subprocess.Register("buyers", buy)

// An Order tells a process what to buy, and how.
type Order struct {
	Database string
	Source   string // of the database
	Pay      time.Duration
	Lock     Lock
	URL      string // of the lock
	First    int    // number of the first buyer
	Buyers   int
}

// news is what a process says: once that it is ready or why it cannot be, and then how each buyer fared.
type news struct {
	Waited time.Duration // for the lock
	Sold   bool
	Err    string `json:",omitempty"`
}

// buy is what a process of buyers does: all of them begin when they are told to.
func buy(ctx context.Context, in *json.Decoder, out *json.Encoder) error {
	var order Order
	if err := in.Decode(&order); err != nil {
		return err
	}
	shop, g, err := order.arrive(ctx)
	if err != nil {
		return out.Encode(news{Err: err.Error()})
	}
	defer shop.Close()
	defer g.Close(ctx)
	if err := out.Encode(news{}); err != nil {
		return err
	}
	if err := in.Decode(new(struct{})); err != nil {
		return err
	}
	go func() { _ = in.Decode(new(struct{})) }() // ends this process when the sale is called off
	return order.rush(ctx, shop, g, out)
}

// arrive connects, and warms up, so that who is there is ready.
func (o Order) arrive(ctx context.Context) (*Shop, guard, error) {
	shop, err := open(ctx, o.Database, o.Source)
	if err != nil {
		return nil, nil, err
	}
	g, err := o.guard(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, shop.Close())
	}
	if err := g.Do(ctx, func(context.Context) error { return nil }); err != nil {
		return nil, nil, errors.Join(err, g.Close(ctx), shop.Close())
	}
	return shop, g, nil
}

// rush lets all buyers go for it at once, and tells of each.
func (o Order) rush(ctx context.Context, shop *Shop, g guard, out *json.Encoder) error {
	fared := make(chan news)
	var buyers sync.WaitGroup
	for buyer := o.First; buyer < o.First+o.Buyers; buyer++ {
		buyers.Go(func() { fared <- o.one(ctx, shop, g, buyer) })
	}
	go func() { buyers.Wait(); close(fared) }()
	var err error
	for n := range fared {
		if e := out.Encode(n); e != nil {
			err = e
		}
	}
	return err
}

// one buyer waits for the lock, and buys if something is left.
func (o Order) one(ctx context.Context, shop *Shop, g guard, buyer int) (n news) {
	came := time.Now()
	err := g.Do(ctx, func(ctx context.Context) (err error) {
		n.Waited = time.Since(came)
		n.Sold, err = shop.Buy(ctx, buyer, o.Pay)
		return err
	})
	if err != nil {
		n.Err = err.Error()
	}
	return n
}
