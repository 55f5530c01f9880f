package main

import (
	"cmp"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast-go/holdfast/lab/browser"
	"github.com/holdfast-go/holdfast/lab/experiment"
	"github.com/holdfast-go/holdfast/lab/report"
	"github.com/holdfast-go/holdfast/lab/testbed"
)

// photograph writes a picture of the page of a report, as a browser shows it, in light colours.
func photograph(ctx context.Context, r experiment.Report, name string) error {
	missing, err := testbed.Outside(ctx, func(t testing.TB) error {
		dir := t.TempDir()
		if err := report.Write(dir, []experiment.Report{r}); err != nil {
			return err
		}
		const size = "1040,4000" // taller than pages are
		shown := browser.Photograph(t, filepath.Join(dir, r.Name+".html"), size,
			"--blink-settings=preferredColorScheme=1")
		return store(name, shown)
	})
	if missing != "" {
		return errors.New(missing)
	}
	return err
}

// store writes a picture without what is empty below it, and with few colours, so that it is small.
func store(name string, picture image.Image) error {
	b := picture.Bounds()
	for b.Max.Y > b.Min.Y+1 && empty(picture, b.Max.Y-1) {
		b.Max.Y--
	}
	small := image.NewPaletted(b, palette(picture))
	draw.Draw(small, b, picture, b.Min, draw.Src)
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	return errors.Join(encoder.Encode(f, small), f.Close())
}

// empty reports whether a row of a picture has only the colour that it begins with.
func empty(picture image.Image, y int) bool {
	b := picture.Bounds()
	for x := b.Min.X + 1; x < b.Max.X; x++ {
		if picture.At(x, y) != picture.At(b.Min.X, y) {
			return false
		}
	}
	return true
}

// palette are the colours that are most in a picture.
func palette(picture image.Image) (few color.Palette) {
	const most = 64
	seen := browser.Colours(picture)
	var all []color.RGBA
	for c := range seen {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { return cmp.Compare(seen[b], seen[a]) })
	for _, c := range all[:min(most, len(all))] {
		few = append(few, c)
	}
	return few
}
