package servers

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	debianPython = "/usr/bin/python3" // Debian's Python, whose modules are Debian's packages
	aptInstall   = "apt-get install -y --no-install-recommends "
)

// Python is the path of a Python that has a module.
func Python(t testing.TB, module string) string {
	t.Helper()
	err := exec.Command(debianPython, "-c", "import "+module).Run()
	Require(t, err == nil, "the module "+module+" of "+debianPython, aptInstall+"python3-"+module)
	return debianPython
}

// curatorJars are what Curator needs.
var curatorJars = []string{
	"curator-recipes", "curator-framework", "curator-client",
	"zookeeper", "zookeeper-jute", "guava", "slf4j-api", "slf4j-nop",
}

func curatorPath(more ...string) string {
	for _, jar := range curatorJars {
		more = append(more, "/usr/share/java/"+jar+".jar")
	}
	return strings.Join(more, string(os.PathListSeparator))
}

const installCurator = aptInstall +
	"default-jdk-headless libcurator-recipes-java libcurator-framework-java libcurator-client-java"

// NeedCurator skips the test unless Curator is there, and what compiles programs that use it.
func NeedCurator(t testing.TB) {
	t.Helper()
	_, err := exec.LookPath("javac")
	Require(t, err == nil, "javac", installCurator)
	for jar := range strings.SplitSeq(curatorPath(), string(os.PathListSeparator)) {
		_, err := os.Stat(jar)
		Require(t, err == nil, jar, installCurator)
	}
}

// CompileForCurator compiles the file of a class that uses Curator into a folder.
func CompileForCurator(t testing.TB, file, folder string) error {
	t.Helper()
	NeedCurator(t)
	out, err := exec.Command("javac", "-d", folder, "-cp", curatorPath(), file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("javac: %w: %s", err, out)
	}
	return nil
}

// CuratorCommand is the command line of a class that was compiled into a folder. It begins soon, and stays small.
func CuratorCommand(folder, class string) []string {
	return []string{
		"java", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", curatorPath(folder), class,
	}
}
