// Command terminal draws what was typed into a terminal, and what that printed, as a moving picture:
//
//	go run ./terminal < TRANSCRIPT > PICTURE.svg
//
// Lines that begin with "$ " are typed, the others are printed at once. What is between « and » differs from run to
// run. The picture shows the end for a moment, and then how it came to it; where animations are not shown, or not
// wanted, it shows the end.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	transcript, err := io.ReadAll(os.Stdin)
	if err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		os.Exit(1)
	}
	fmt.Print(draw(string(transcript)))
}
