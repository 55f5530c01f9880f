package driver

import "context"

// Handlers do operations one at a time, those of each kind in a function: see [Kind] for what it is to do. A kind whose
// function is nil is not supported.
type Handlers struct {
	Traits func() Traits // of the driver

	Request  func(ctx context.Context, c Claim) (Status, error)
	Release  func(ctx context.Context, c Claim) error
	Break    func(ctx context.Context, name, id string) error
	Revoke   func(ctx context.Context, name, id string) error
	SetValue func(ctx context.Context, c Claim, v Value) error
	Value    func(ctx context.Context, name string) (Value, error)
	Queue    func(ctx context.Context, name string, most int) ([]Entry, error) // may return more, which are left out
	Watch    func(ctx context.Context, name string) error
}

// Do makes one attempt at an operation.
func (h Handlers) Do(ctx context.Context, op Op) (r Result) {
	c := op.Claim
	switch {
	case op.Kind == OpRequest && h.Request != nil:
		r.Status, r.Err = h.Request(ctx, c)
	case op.Kind == OpRelease && h.Release != nil:
		r.Err = h.Release(ctx, c)
	case op.Kind == OpBreak && h.Break != nil:
		r.Err = h.Break(ctx, c.Name, c.ID)
	case op.Kind == OpRevoke && h.Revoke != nil:
		r.Err = h.Revoke(ctx, c.Name, c.ID)
	case op.Kind == OpSetValue && h.SetValue != nil:
		r.Err = h.SetValue(ctx, c, op.Value)
	case op.Kind == OpValue && h.Value != nil:
		r.Value, r.Err = h.Value(ctx, c.Name)
	case op.Kind == OpQueue && h.Queue != nil:
		if r.Queue, r.Err = h.Queue(ctx, c.Name, op.Most); op.Most > 0 {
			r.Queue = r.Queue[:min(op.Most, len(r.Queue))]
		}
	case op.Kind == OpWatch && h.Watch != nil:
		r.Err = h.Watch(ctx, c.Name)
	default:
		r.Err = Unsupported(h.Traits(), op.Kind.String())
	}
	return r
}
