package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// Sizes are in pixels, times in seconds.
const (
	charWidth, lineHeight = 8.4, 21.0
	left, top             = 20.0, 58.0
	perChar               = 0.045 // to type it
	still                 = 2.0   // for which the end is shown at first, as all there is where nothing moves
	beforeTyping          = 0.9
	beforeOutput          = 0.35
)

// A line is not quite hidden while it waits for its time: where nothing is to be seen of it, Chromium draws nothing of
// the window either.
var style = fmt.Sprintf(`<style>
text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d5d9e0; white-space: pre }
.prompt { fill: #7fb069 }
.said { fill: #9aa5b8 }
.cover { fill: #1b1f27; transform: scaleX(0); transform-box: fill-box; transform-origin: right }
@media (prefers-reduced-motion: no-preference) {
@keyframes wait { from, to { opacity: 0.01 } }
@keyframes type { from { transform: scaleX(1) } }
.line { animation-name: wait; animation-delay: %.2fs }
.cover { animation-name: type }
}
</style>
`, still)

// draw returns the picture of a transcript.
func draw(transcript string) string {
	lines := strings.Split(strings.TrimRight(strings.NewReplacer("«", "", "»", "").Replace(transcript), "\n"), "\n")
	var body strings.Builder
	now, widest, typed := still, 0, false
	for i, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
		y := top + lineHeight*float64(i)
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			now += beforeTyping
			typeLine(&body, command, y, now)
			now += perChar * float64(utf8.RuneCountInString(command))
			typed = true
			continue
		}
		if typed {
			now += beforeOutput
		}
		typed = false
		printLine(&body, line, y, now)
	}
	return frame(widest, len(lines), body.String())
}

// typeLine draws a command whose cover goes away sign by sign.
func typeLine(w *strings.Builder, command string, y, at float64) {
	chars := utf8.RuneCountInString(command)
	x, width := left+2*charWidth, charWidth*float64(chars)
	waiting(w, at)
	fmt.Fprintf(w, `<text class="prompt" x="%.1f" y="%.1f">$</text>`, left, y)
	text(w, "typed", command, x, y)
	fmt.Fprintf(w, `<rect class="cover" x="%.1f" y="%.1f" width="%.1f" height="%.1f"`, x, y-15, width, lineHeight)
	fmt.Fprintf(w, ` style="animation-duration: %.2fs; animation-delay: %.2fs;`, perChar*float64(chars), at)
	fmt.Fprintf(w, " animation-timing-function: steps(%d)\"/></g>\n", chars)
}

// waiting begins a line that is hidden from when the end is no more shown until its time.
func waiting(w *strings.Builder, until float64) {
	fmt.Fprintf(w, `<g class="line" style="animation-duration: %.2fs">`, until-still)
}

func printLine(w *strings.Builder, line string, y, at float64) {
	waiting(w, at)
	text(w, "said", line, left, y)
	w.WriteString("</g>\n")
}

// text draws a line as wide as its signs are many, whatever font is at hand.
func text(w *strings.Builder, class, line string, x, y float64) {
	fmt.Fprintf(w, `<text class="%s" x="%.1f" y="%.1f" textLength="%.1f">%s</text>`, class, x, y,
		charWidth*float64(utf8.RuneCountInString(line)), html.EscapeString(line))
}

// frame puts a window around the lines.
func frame(columns, lines int, body string) string {
	width, height := 2*left+charWidth*float64(columns), top+lineHeight*float64(lines)
	var w strings.Builder
	fmt.Fprintf(&w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`+"\n",
		width, height, width, height)
	w.WriteString(style)
	fmt.Fprintf(&w, `<rect width="%.0f" height="%.0f" rx="8" fill="#1b1f27"/>`+"\n", width, height)
	for i, colour := range []string{"#e5694f", "#e8b84a", "#7fb069"} {
		fmt.Fprintf(&w, `<circle cx="%d" cy="20" r="6" fill="%s"/>`+"\n", 24+20*i, colour)
	}
	w.WriteString(body)
	w.WriteString("</svg>\n")
	return w.String()
}
