import java.io.BufferedReader;
import java.io.File;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.concurrent.CountDownLatch;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.Revoker;
import org.apache.curator.retry.RetryOneTime;

/**
 * A process that locks with Apache Curator. It says "ready", waits for a line, and then does what its third argument says:
 *
 * <pre>
 * visit   enter the section under the mutex, again and again, until its input ends
 * share   the same under the read-write lock, reading more often than writing
 * hold    take the mutex, say "held", wait for a line, release it
 * read, write   the same with a part of the read-write lock
 * yield   the same as hold with a mutex that can be revoked, waiting for that instead: it says "revoked"
 * revoke  ask all participants of the mutex to let go
 * </pre>
 *
 * Arguments: the server, the path of the lock, what to do, the section's folder, the name of this process.
 */
public class Peer {
    private static final BufferedReader input = new BufferedReader(new InputStreamReader(System.in));

    public static void main(String[] args) throws Exception {
        CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], 20000, 20000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
        say("ready");
        input.readLine();
        run(client, args[1], args[2], new Section(Paths.get(args[3]), args[4]));
        client.close();
    }

    private static void run(CuratorFramework client, String path, String what, Section section) throws Exception {
        InterProcessReadWriteLock shared = new InterProcessReadWriteLock(client, path);
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        switch (what) {
            case "visit":
                visit(section, mutex, mutex);
                break;
            case "share":
                visit(section, shared.writeLock(), shared.readLock());
                break;
            case "hold":
                hold(mutex);
                break;
            case "read":
                hold(shared.readLock());
                break;
            case "write":
                hold(shared.writeLock());
                break;
            case "yield":
                yieldTo(mutex);
                break;
            case "revoke":
                for (String node : mutex.getParticipantNodes()) {
                    Revoker.attemptRevoke(client, node);
                }
                break;
            default:
                throw new IllegalArgumentException(what);
        }
    }

    /** Enters the section until the input ends: every third time under the first lock, otherwise under the second. */
    private static void visit(Section section, InterProcessLock write, InterProcessLock read) throws Exception {
        CountDownLatch over = inputEnds();
        for (int i = 0; over.getCount() > 0; i++) {
            boolean writes = write == read || i % 3 == 0;
            InterProcessLock lock = writes ? write : read;
            lock.acquire();
            try {
                section.visit(writes);
            } finally {
                lock.release();
            }
        }
    }

    private static CountDownLatch inputEnds() {
        CountDownLatch over = new CountDownLatch(1);
        Thread reader = new Thread(() -> {
            try {
                while (input.readLine() != null) {}
            } catch (java.io.IOException e) {
                // nobody is there any more
            }
            over.countDown();
        });
        reader.setDaemon(true);
        reader.start();
        return over;
    }

    private static void hold(InterProcessLock lock) throws Exception {
        lock.acquire();
        say("held");
        input.readLine();
        lock.release();
        say("released");
    }

    private static void yieldTo(InterProcessMutex mutex) throws Exception {
        CountDownLatch revoked = new CountDownLatch(1);
        mutex.makeRevocable(forLock -> revoked.countDown());
        mutex.acquire();
        say("held");
        revoked.await();
        say("revoked");
        mutex.release();
        say("released");
    }

    static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    /** The section, as the Go tests describe it. */
    private static class Section {
        private final Path folder;
        private final String name;

        Section(Path folder, String name) {
            this.folder = folder;
            this.name = name;
        }

        void visit(boolean writes) throws Exception {
            Path mark = folder.resolve(name + (writes ? ".writes" : ".reads"));
            Files.createFile(mark);
            String other = other(mark, writes);
            if (writes) {
                count();
            } else {
                Thread.sleep(1);
            }
            if (other.isEmpty()) {
                other = other(mark, writes);
            }
            Files.delete(mark);
            say((writes ? "wrote" : "read") + (other.isEmpty() ? "" : " beside " + other));
        }

        private void count() throws Exception {
            Path file = folder.resolve("count");
            String text = Files.readString(file);
            int n = text.isEmpty() ? 0 : Integer.parseInt(text); // empty: another one writes it too
            Thread.sleep(1);
            Files.writeString(file, Integer.toString(n + 1));
        }

        private String other(Path mark, boolean writes) {
            for (File f : folder.toFile().listFiles()) {
                boolean counts = f.getName().endsWith(".writes") || writes && f.getName().endsWith(".reads");
                if (counts && !f.toPath().equals(mark)) {
                    return f.getName();
                }
            }
            return "";
        }
    }
}
