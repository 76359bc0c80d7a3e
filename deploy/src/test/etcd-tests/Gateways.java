import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Runs gateways in one process: a line of standard input is "start FILE" or "stop FILE", with a configuration file.
 *
 * <p>A process per gateway would use 2 s of CPU time for each of about a thousand gateways.
 */
final class Gateways {

    public static void main(String[] arguments) throws IOException {
        ExecutorService executor = Executors.newCachedThreadPool();
        Map<String, CompletableFuture<Gateway>> running = new HashMap<>();
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String file = line.substring(line.indexOf(' ') + 1);
            if (line.startsWith("start ")) {
                running.put(file, CompletableFuture.supplyAsync(() -> start(file), executor));
            } else {
                CompletableFuture<Gateway> gateway = running.remove(file);
                if (gateway != null) {
                    gateway.thenAcceptAsync(Gateway::close, executor);
                }
            }
        }
        System.exit(0);
    }

    private static Gateway start(String file) {
        try {
            return Gateway.start(GatewaySettings.load(Path.of(file), Map.of(), Map.of()));
        } catch (IOException | InterruptedException | RuntimeException e) {
            e.printStackTrace();
            throw new CompletionException(e);
        }
    }
}
