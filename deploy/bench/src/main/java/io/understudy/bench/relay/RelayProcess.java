package io.understudy.bench.relay;

import io.understudy.bench.BenchException;
import io.understudy.lab.part.UnderstudyPart;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.net.URI;
import java.nio.file.Path;

/** A relay as a process of its own. It can be stopped, and started again where it was. */
public interface RelayProcess extends AutoCloseable {

    /** Starts it; returns when it runs, not when it has copied anything. */
    void start() throws InterruptedException;

    /** Ends it in order. */
    void stop();

    /**
     * Of the process that runs.
     *
     * @throws BenchException it has ended
     */
    long pid();

    /** Ends it for good. */
    @Override
    void close();

    /**
     * {@code understudy mirror}, of everything.
     *
     * @param folder for its configuration and log; created
     * @param sides {@code source} and {@code target} of its configuration
     */
    static RelayProcess mirror(Path folder, String sides, Progress progress) {
        FreePorts port = FreePorts.take(1);
        String configuration =
                """
                # Written by 'understudy bench'.
                status:
                  listen: 127.0.0.1:%d
                mirrors:
                  bench:
                %s
                """.formatted(port.get(0), sides.strip().indent(4).stripTrailing());
        return new RelayProcess() {
            private UnderstudyPart part = part();

            private UnderstudyPart part() {
                return new UnderstudyPart(
                        "mirror",
                        Folders.create(folder),
                        configuration,
                        "",
                        URI.create("http://127.0.0.1:" + port.get(0) + "/livez"),
                        progress);
            }

            @Override
            public void start() throws InterruptedException {
                part.start();
            }

            @Override
            public void stop() {
                part.stop();
                part = part();
            }

            @Override
            public long pid() {
                return pidOf(part.children().get(0).process().get());
            }

            @Override
            public void close() {
                part.stop();
                port.close();
            }
        };
    }

    /**
     * A program.
     *
     * @param command its folder exists
     */
    static RelayProcess of(ServerCommand command) {
        ServerProcess process = new LocalProcesses().prepare(command);
        return new RelayProcess() {
            @Override
            public void start() {
                process.start();
            }

            @Override
            public void stop() {
                process.stop();
            }

            @Override
            public long pid() {
                return pidOf(process);
            }

            @Override
            public void close() {
                process.close();
            }
        };
    }

    private static long pidOf(ServerProcess process) {
        return process.pid()
                .orElseThrow(() -> new BenchException(process.name() + " has exited; end of its log:\n  "
                        + String.join("\n  ", process.log().tail(12))));
    }
}
