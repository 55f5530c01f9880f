// Package classic has the locks of textbooks and first attempts, each as it is commonly written, with a comment that
// says what it assumes and how it breaks. Do not use them: package experiment shows each of them fail.
package classic
