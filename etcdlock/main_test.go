package etcdlock_test

import (
	"testing"

	"github.com/holdfast-go/holdfast/internal/leasedtest"
)

func TestMain(m *testing.M) { leasedtest.Main(m) }
