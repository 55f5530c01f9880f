package interop

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// debian is Debian's Python, whose modules are Debian's packages.
const debian = "/usr/bin/python3"

// Python is the path of a Python that has a module.
func Python(t testing.TB, module string) string {
	t.Helper()
	if err := exec.Command(debian, "-c", "import "+module).Run(); err != nil {
		missing(t, module+" for "+debian, "python3-"+module)
	}
	return debian
}

// jars are what Curator needs.
var jars = []string{
	"curator-recipes", "curator-framework", "curator-client",
	"zookeeper", "zookeeper-jute", "guava", "slf4j-api", "slf4j-nop",
}

func classPath(more ...string) string {
	for _, jar := range jars {
		more = append(more, "/usr/share/java/"+jar+".jar")
	}
	return strings.Join(more, string(os.PathListSeparator))
}

const installCurator = "default-jdk-headless libcurator-recipes-java libcurator-framework-java libcurator-client-java"

// NeedCurator skips the test unless Curator is there, and what compiles programs that use it.
func NeedCurator(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("javac"); err != nil {
		missing(t, "javac", installCurator)
	}
	for jar := range strings.SplitSeq(classPath(), string(os.PathListSeparator)) {
		if _, err := os.Stat(jar); err != nil {
			missing(t, jar, installCurator)
		}
	}
}

// CompileForCurator compiles the file of a class that uses Curator into a folder.
func CompileForCurator(t testing.TB, file, folder string) error {
	t.Helper()
	NeedCurator(t)
	out, err := exec.Command("javac", "-d", folder, "-cp", classPath(), file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w: %s", err, out)
	}
	return nil
}

// CuratorCommand is the command line of a class that was compiled into a folder. It begins soon, and stays small.
func CuratorCommand(folder, class string) []string {
	return []string{
		"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classPath(folder), class,
	}
}

// missing skips the test, or fails it where nothing may be skipped.
func missing(t testing.TB, what, packages string) {
	t.Helper()
	reason := fmt.Sprintf("%s is not installed; "+
		"install it with: apt-get install -y --no-install-recommends %s (or: make servers)", what, packages)
	if os.Getenv("HOLDFAST_NO_SKIP") != "" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}
