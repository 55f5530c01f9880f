package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// The picture of the README is what is drawn of its transcript. That the transcript is true is a test of the command.
func TestPictureIsOfItsTranscript(t *testing.T) {
	const pictures = "../../../docs/pictures/"
	transcript, err := os.ReadFile(pictures + "terminal.txt")
	if err != nil {
		t.Fatal(err)
	}
	picture, err := os.ReadFile(pictures + "terminal.svg")
	if err != nil {
		t.Fatal(err)
	}
	if draw(string(transcript)) != string(picture) {
		t.Error("docs/pictures/terminal.svg is not what is drawn of terminal.txt; make picture")
	}
}

// Pictures are XML, whatever was printed, and have every line; their times grow.
func TestDraw(t *testing.T) {
	const transcript = "$ echo '<&>'\n<&>\n\n$ date «+%s»\n1\n"
	picture := draw(transcript)
	texts, decoder := 0, xml.NewDecoder(strings.NewReader(picture))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v:\n%s", err, picture)
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == "text" {
			texts++
		}
	}
	if want := 7; texts != want { // a command is two: its prompt, and what is typed
		t.Errorf("%d texts, want %d", texts, want)
	}
	for _, want := range []string{"echo &#39;&lt;&amp;&gt;&#39;", "date +%s", "steps(8)",
		`<g class="line" style="animation-duration: 0.90s">`,
		"animation-delay: 2.90s"} {
		if !strings.Contains(picture, want) {
			t.Errorf("the picture lacks %q:\n%s", want, picture)
		}
	}
	if strings.Contains(picture, "backwards") {
		t.Error("lines are hidden from the beginning, so that the first frame, which is all that some show, is empty")
	}
	if strings.ContainsAny(picture, "«»") {
		t.Error("the picture has the marks of the transcript")
	}
}
