package io.understudy.local.process;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A JVM that starts two servers, pauses one, writes their process ids to a file, and then waits to be killed. */
final class AbandoningJvm {

    static final String PIDS = "pids";

    private AbandoningJvm() {}

    public static void main(String[] arguments) throws InterruptedException, IOException {
        Path folder = Path.of(arguments[0]);
        List<String> pids = new ArrayList<>();
        for (String name : List.of("running", "paused")) {
            ServerProcess server = new LocalProcesses()
                    .prepare(new ServerCommand(
                            name,
                            Path.of("/bin/sh"),
                            List.of("-c", "exec sleep 1000"),
                            Map.of(),
                            folder,
                            folder.resolve(name + ".log")));
            server.start();
            if (name.equals("paused")) {
                server.pause();
            }
            pids.add(Long.toString(server.pid().orElseThrow()));
        }
        // Appears whole or not at all.
        Files.move(Files.write(folder.resolve(PIDS + ".new"), pids), folder.resolve(PIDS));
        Thread.currentThread().join();
    }
}
