package io.understudy.lab.part;

import io.understudy.lab.failure.LabException;
import io.understudy.lab.progress.Phase;
import io.understudy.lab.progress.Progress;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerProcess;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
}
