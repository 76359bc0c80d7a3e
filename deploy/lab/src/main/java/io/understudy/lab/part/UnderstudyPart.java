package io.understudy.lab.part;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.Part.Child;
import io.understudy.lab.progress.Progress;
import io.understudy.lab.progress.Progress.Phase;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerProcess;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A process of our own, such as {@code understudy gateway}, with its configuration beside its log. */
public final class UnderstudyPart implements Part {

    private final String name;
    private final Path configFile;
    private final String config;
    private final URI ready;
    private final @Nullable TlsFiles tls;
    private final Progress progress;
    private final ServerProcess process;
    private final Child child;

    /** A part with the name of its sub-command, without TLS. */
    public UnderstudyPart(String name, Path folder, String config, String jvmOptions, URI ready, Progress progress) {
        this(name, List.of(name), folder, config, jvmOptions, ready, null, progress);
    }

    /**
     * @param name of the part, and of its files
     * @param subCommands the command of Understudy that it runs
     * @param folder exists; gets the configuration and the log
     * @param config YAML
     * @param jvmOptions besides those that the command chooses by itself, separated by blanks
     * @param ready answers with status 200 when the process is ready
     * @param tls of the client that polls it; null for plain text
     */
    public UnderstudyPart(
            String name,
            List<String> subCommands,
            Path folder,
            String config,
            String jvmOptions,
            URI ready,
            @Nullable TlsFiles tls,
            Progress progress) {
        this.name = name;
        this.configFile = folder.resolve(name + ".yaml");
        this.config = config;
        this.ready = ready;
        this.tls = tls;
        this.progress = progress;
        this.process = new LocalProcesses()
                .prepare(UnderstudyCommand.ofThisBuild()
                        .running(
                                name,
                                folder,
                                jvmOptions,
                                System.getenv(),
                                Stream.concat(subCommands.stream(), Stream.of("--config", configFile.toString()))
                                        .toArray(String[]::new)));
        this.child = Child.of(process);
        progress.add(name, "");
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void start() throws InterruptedException {
        try {
            Files.writeString(configFile, config);
        } catch (IOException e) {
            throw new LabException("cannot write the configuration " + configFile + ": " + e.getMessage(), e);
        }
        progress.change(name, Phase.STARTING, "");
        process.start();
        new ReadinessProbe(tls).await(child, ready, detail -> progress.change(name, Phase.STARTING, detail));
        progress.change(name, Phase.READY, "");
    }

    @Override
    public List<Child> children() {
        return List.of(child);
    }

    @Override
    public void stop() {
        process.stop();
        process.close();
    }

    /** Waits until a process reports over HTTP that it is ready. */
    private static final class ReadinessProbe {

        /**
         * A dozen processes start at once, perhaps on two busy cores. A process that has ended is noticed without waiting.
         */
        private static final Duration PATIENCE = Duration.ofMinutes(3);

        private static final Duration REQUEST = Duration.ofSeconds(2);
        private static final long PAUSE_MILLIS = 50;
        private static final int SHOWN = 60;

        private final HttpClient http;

        /** @param tls of the client; null for plain text */
        ReadinessProbe(@Nullable TlsFiles tls) {
            // Closed, it looks for new files no more; those of now are good for as long as this is used.
            try (TlsContext context = TlsContext.of(tls)) {
                this.http = context.applyTo(HttpClient.newBuilder()
                                .version(HttpClient.Version.HTTP_1_1)
                                .connectTimeout(REQUEST))
                        .build();
            }
        }

        /**
         * @param address answers with status 200 when ready
         * @param detail receives its answers until then
         */
        void await(Child child, URI address, Consumer<String> detail) throws InterruptedException {
            long end = System.nanoTime() + PATIENCE.toNanos();
            HttpRequest request =
                    HttpRequest.newBuilder(address).timeout(REQUEST).build();
            String previous = "";
            while (System.nanoTime() < end) {
                ServerProcess process = child.process().get();
                if (!process.isAlive()) {
                    throw child.failure("exited during startup with status "
                            + process.exitStatus().orElse(-1));
                }
                try {
                    HttpResponse<String> answer = http.send(request, HttpResponse.BodyHandlers.ofString());
                    if (answer.statusCode() == 200) {
                        return;
                    }
                    String detailLine = firstLine(answer.body());
                    if (!detailLine.equals(previous)) {
                        previous = detailLine;
                        detail.accept(detailLine);
                    }
                } catch (IOException e) {
                    // Not listening yet.
                    previous = "";
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
            throw child.failure("is not ready after " + PATIENCE.toSeconds() + " s according to " + address
                    + (previous.isEmpty() ? "" : ": '" + previous + "'"));
        }

        private static String firstLine(String body) {
            String line = body.lines().findFirst().orElse("").strip();
            return line.length() <= SHOWN ? line : line.substring(0, SHOWN);
        }
    }
}
