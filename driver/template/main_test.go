package template_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/bubble"
)

func TestMain(m *testing.M) { bubble.Main(m) }
