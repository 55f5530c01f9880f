package servertables

import "strings"

// Script writes statements down for people and for the tools that they migrate databases with.
func (d *Dialect) Script(statements []string) string {
	var b strings.Builder
	b.WriteString(d.preface)
	for _, statement := range statements {
		b.WriteString(d.ended(statement))
		b.WriteString("\n\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func endedBySemicolon(statement string) string { return strings.TrimSuffix(statement, ";") + ";" }

// endedByDelimiter lets the mysql client tell the semicolons of a routine from the one after it.
func endedByDelimiter(statement string) string {
	if !strings.HasSuffix(statement, "\nEND") {
		return endedBySemicolon(statement)
	}
	return "DELIMITER ;;\n" + statement + ";;\nDELIMITER ;"
}
