package proof

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/holdfast-go/holdfast"
)

// An option is a word that may follow a step, with or without a value, and sets a field of it.
type option struct {
	word   string
	valued bool
	set    func(s *Step, value string) error
	text   func(s *Step) (value string, set bool)
}

// stepOptions are all, in the order in which they are written.
var stepOptions = []option{
	numeric("times", func(s *Step) *int { return &s.Times }),
	timed("ttl", func(s *Step) *time.Duration { return &s.TTL }),
	timed("least", func(s *Step) *time.Duration { return &s.Least }),
	timed("most", func(s *Step) *time.Duration { return &s.Most }),
	timed("reuse", func(s *Step) *time.Duration { return &s.Reuse }),
	plain("later", func(s *Step) *bool { return &s.Later }),
	plain("again", func(s *Step) *bool { return &s.Again }),
	plain("pass", func(s *Step) *bool { return &s.Pass }),
	numeric("many", func(s *Step) *int { return &s.Many }),
	plain("dies", func(s *Step) *bool { return &s.Dies }),
}

func numeric(word string, field func(*Step) *int) option {
	set := func(s *Step, value string) (err error) {
		*field(s), err = strconv.Atoi(value)
		return err
	}
	text := func(s *Step) (string, bool) { return strconv.Itoa(*field(s)), *field(s) != 0 }
	return option{word, true, set, text}
}

func timed(word string, field func(*Step) *time.Duration) option {
	set := func(s *Step, value string) (err error) {
		*field(s), err = time.ParseDuration(value)
		return err
	}
	text := func(s *Step) (string, bool) { return field(s).String(), *field(s) != 0 }
	return option{word, true, set, text}
}

func plain(word string, field func(*Step) *bool) option {
	set := func(s *Step, _ string) error {
		*field(s) = true
		return nil
	}
	text := func(s *Step) (string, bool) { return "", *field(s) }
	return option{word, false, set, text}
}

// optionsText is what follows a step as text, each word with a space before it.
func (s Step) optionsText() (text string) {
	for _, o := range stepOptions {
		value, set := o.text(&s)
		if set {
			text += " " + o.word
		}
		if set && o.valued {
			text += " " + value
		}
	}
	return text
}

// readOptions reads the words that follow a step.
func (s *Step) readOptions(words []string) error {
	for len(words) > 0 {
		i := slices.IndexFunc(stepOptions, func(o option) bool { return o.word == words[0] })
		if i < 0 {
			return fmt.Errorf("%q is no option of a step", words[0])
		}
		o, value := stepOptions[i], ""
		if o.valued {
			if len(words) == 1 {
				return fmt.Errorf("%s lacks its value", o.word)
			}
			value, words = words[1], words[1:]
		}
		if err := o.set(s, value); err != nil {
			return err
		}
		words = words[1:]
	}
	return nil
}

// options are those of the lock of a step, for the library.
func (s Step) options() (options []holdfast.Option) {
	if s.TTL > 0 {
		options = append(options, holdfast.WithTTL(s.TTL))
	}
	if s.Least > 0 {
		options = append(options, holdfast.WithMinHold(s.Least))
	}
	if s.Most > 0 {
		options = append(options, holdfast.WithMaxHold(s.Most))
	}
	if s.Reuse > 0 {
		options = append(options, holdfast.WithReuse(s.Reuse))
	}
	if s.Later {
		options = append(options, holdfast.WithAsyncRelease())
	}
	if s.Again {
		options = append(options, holdfast.WithReentrant())
	}
	return options
}
