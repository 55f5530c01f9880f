module github.com/holdfast-go/holdfast/mutants

go 1.26.0
