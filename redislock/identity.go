package redislock

import "net/url"

// Identity implements [driver.Identifier]: it is the name in the options, or "".
func (d *native) Identity() string { return d.opts.identity() }

// Identity implements [driver.Identifier]: it is the name in the options, or "".
func (f *foreign) Identity() string { return f.opts.identity() }

// identity distinguishes prefixes and layouts: with each of them, the same name is another lock.
func (o Options) identity() string {
	if o.Store == "" || o.Prefix == DefaultPrefix {
		return o.Store
	}
	return o.Store + "?" + url.Values{"layout": {string(o.Layout)}, "prefix": {o.Prefix}}.Encode()
}
