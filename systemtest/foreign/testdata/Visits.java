import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/** A program that locks with Apache Curator, as package foreign describes it. Arguments: the servers, the TTL in milliseconds. */
public class Visits {
    private static final BlockingQueue<String> orders = new LinkedBlockingQueue<>();

    public static void main(String[] args) throws Exception {
        Thread listener = new Thread(Visits::listen);
        listener.setDaemon(true);
        listener.start();
        int ttl = Integer.parseInt(args[1]);
        CuratorFramework client = CuratorFrameworkFactory.newClient(args[0], ttl, ttl, new RetryOneTime(100));
        client.start();
        InterProcessMutex mutex = null;
        while (true) {
            String[] order = orders.take().split(" ");
            String answer;
            try {
                if (order[0].equals("lock")) {
                    mutex = new InterProcessMutex(client, "/" + order[1]);
                    answer = mutex.acquire(Long.parseLong(order[2]), TimeUnit.MILLISECONDS) ? "got" : "taken";
                } else {
                    mutex.release();
                    answer = "released";
                }
            } catch (Exception e) {
                answer = "error " + e.toString().replaceAll("\\s+", " ");
            }
            System.out.println(answer);
            System.out.flush();
        }
    }

    private static void listen() {
        try (BufferedReader input = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                orders.add(line);
            }
        } catch (IOException e) {
            // it is as if it had ended
        }
        Runtime.getRuntime().halt(0);
    }
}
